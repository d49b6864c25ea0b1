/**
 * The storage worker: a thread that holds one connection, so that neither an fsync nor a scan ever stops the host.
 *
 * Its imports are kept few on purpose (no Effect, nothing of core): a thread must start in tens of milliseconds.
 */
import type { DatabaseSync } from "node:sqlite"
import { parentPort } from "node:worker_threads"
import { packAnswers } from "./answers.ts"
import { ChainReader } from "./chain-reader.ts"
import { ChainWriter } from "./chain-writer.ts"
import { Checkpoints } from "./checkpoints.ts"
import { inMemory } from "./layout.ts"
import { migrations } from "./migrations.ts"
import { cacheKib, openForReading, openForWriting, smallCacheKib } from "./open-database.ts"
import type { OpenRequest, Posted, Reply, WorkerRequest } from "./protocol.ts"
import { isWrite } from "./protocol.ts"
import { packParts, packRecords } from "./rows.ts"
import { faultOf, StoreRefused } from "./sqlite-fault.ts"

/** What a role has open. */
interface Connection {
  readonly reader: ChainReader
  readonly writer: ChainWriter | null
  readonly checkpoints: Checkpoints | null
  readonly close: () => void
}

const port = parentPort!
let connection: Connection | null = null
/** Why the last attempt to open failed, for requests that were sent behind it. */
let notOpen: unknown = null

const cacheOf = ({ small }: OpenRequest): number => small ? smallCacheKib : cacheKib

const open = (request: OpenRequest): Connection => {
  connection?.close()
  connection = null
  if (request.role === "reader") {
    const db = openForReading(request.file, request.busyTimeoutMs, cacheOf(request))
    return { reader: new ChainReader(db), writer: null, checkpoints: null, close: () => db.close() }
  }
  const { db, close } = openForWriting(request.file, request.busyTimeoutMs, migrations, cacheOf(request))
  try {
    return writing(db, request, close)
  } catch (error) {
    close()
    throw error
  }
}

const writing = (db: DatabaseSync, { file }: OpenRequest, closeDatabase: () => void): Connection => {
  const checkpoints = file === inMemory ? null : new Checkpoints(db)
  return {
    reader: new ChainReader(db),
    writer: new ChainWriter(db),
    checkpoints,
    close: () => {
      checkpoints?.close()
      closeDatabase()
    }
  }
}

/** Answers one request; a buffer is transferred. */
const answer = (id: number, request: WorkerRequest): void => {
  switch (request.op) {
    case "open":
      try {
        connection = open(request)
      } catch (error) {
        notOpen = error
        throw error
      }
      return ok(id, null)
    case "close":
      connection?.close()
      connection = null
      return ok(id, null)
    case "commit":
      return commit(id, request.batch.nowMs, request.batch.buffer, request.batch.names)
    case "lease":
      return ok(id, writer().lease(request.name, request.holder, request.nowMs, request.untilMs))
    case "releaseLease":
      writer().releaseLease(request.name, request.holder)
      return ok(id, null)
    case "head":
      return ok(id, reader().head())
    case "get":
      return ok(id, reader().get(request.collection, request.id))
    case "find":
      return ok(id, reader().find(request.collection, request.key, request.value))
    case "list":
      return ok(id, reader().list(request.collection, request.after, request.limit))
    case "records":
      return search(id, reader().records(request.query))
    case "parts":
      return okBuffer(id, packParts(reader().parts(request.seqs)))
    case "once":
      return ok(id, reader().once(request.scope, request.keys))
    case "hashes":
      return okBuffer(id, reader().hashes(request.tileLevel, request.from, request.count))
    case "deliveries":
      return ok(id, reader().deliveries(request.after, request.limit))
  }
}

/** The callers have their answers before the log is copied back, except after an erasure: then the bytes are gone from the files first. */
const commit = (id: number, nowMs: number, buffer: ArrayBuffer, names: ReadonlyArray<string>): void => {
  const { answers, erased } = writer().commit(nowMs, buffer, names)
  if (erased) connection?.checkpoints?.erased()
  okBuffer(id, packAnswers(answers))
  sendReplies()
  connection?.checkpoints?.committed()
}

/** Goes on with a search slice by slice; other requests are served in between. */
const search = (id: number, slices: ReturnType<ChainReader["records"]>): void => {
  const { done, value } = slices.next()
  if (done === true) return okBuffer(id, packRecords(value))
  setImmediate(() => {
    guarded(id, () => search(id, slices))
    sendReplies()
  })
}

const required = <A>(part: A | null | undefined, what: string): A => {
  if (part === null || part === undefined) throw notOpen ?? new StoreRefused(`this connection is not open for ${what}`)
  return part
}
const writer = (): ChainWriter => required(connection?.writer, "writing")
const reader = (): ChainReader => required(connection?.reader, "reading")

/** Answers that wait for those of the other requests they came with. */
let replies: Array<Reply> = []
let transfer: Array<ArrayBuffer> = []
/** How long an answer waits for others, at most, give or take one request. */
const gatherMs = 1

const reply = (one: Reply, buffer?: ArrayBuffer): void => {
  replies.push(one)
  if (buffer !== undefined) transfer.push(buffer)
}

const sendReplies = (): void => {
  if (replies.length > 0) port.postMessage(replies, transfer)
  replies = []
  transfer = []
}

const ok = (id: number, value: unknown): void => reply({ id, ok: true, value })
const okBuffer = (id: number, value: ArrayBuffer): void => reply({ id, ok: true, value }, value)

/** A fault is answered. What is not one (a rollback that failed) ends this thread: the host hears of it and starts another. */
const guarded = (id: number, run: () => void, wrote: "no" | "unknown" = "no"): void => {
  try {
    run()
  } catch (error) {
    if (error instanceof AggregateError) throw error
    reply({ id, ok: false, fault: faultOf(error, wrote) })
  }
}

port.on("message", (posted: ReadonlyArray<Posted>) => {
  let sinceMs = performance.now()
  for (const { id, request } of posted) {
    guarded(id, () => answer(id, request), isWrite(request) ? "unknown" : "no")
    if (performance.now() - sinceMs < gatherMs) continue
    sendReplies()
    sinceMs = performance.now()
  }
  sendReplies()
})
