/**
 * Serves the requests of one host over one connection, in whatever thread it is made. Its imports are few on purpose:
 * see `sqlite-worker.ts`.
 */
import type { DatabaseSync } from "node:sqlite"
import type { ClaimRequest, ForgetRequest, Head, LimitRequest } from "@flyball/core/storage"
import { ChainReader } from "../chain-reader.ts"
import { ChainWriter } from "../commit.ts"
import { Checkpoints } from "../wal-checkpointer.ts"
import { inMemory } from "../layout.ts"
import { Limits } from "../limits.ts"
import { migrations } from "../migrations.ts"
import { cacheKib, openForReading, openForWriting, smallCacheKib, type WritableDatabase } from "../open-database.ts"
import { OutboxReader } from "../outbox/outbox-reader.ts"
import type { OpenRequest, Posted, Reply, WorkerRequest } from "./protocol.ts"
import { isWrite } from "./protocol.ts"
import type { PreparedChange } from "../prepared-change.ts"
import { type PartPage, packParts, packRecords, type RecordPage } from "../rows.ts"
import type { SqliteRehasher } from "../rehash.ts"
import { faultOf, StoreRefused } from "../sqlite-fault.ts"

/** Takes answers to the host. Buffers may be transferred: nothing here reads them again. */
export type Post = (replies: ReadonlyArray<Reply>, transfer: ReadonlyArray<ArrayBuffer>) => void

/** Open resources of a role. */
interface Connection {
  readonly db: DatabaseSync
  readonly reader: ChainReader
  readonly outbox: OutboxReader
  readonly writer: ChainWriter | null
  readonly limits: Limits | null
  readonly checkpoints: Checkpoints | null
  readonly requireInPlace: () => void
  readonly close: () => void
}

/** How long an answer waits for others, at most, give or take one request. */
const gatherMs = 1

const cacheOf = ({ small }: OpenRequest): number => (small ? smallCacheKib : cacheKib)

const open = (request: OpenRequest): Connection => {
  if (request.role === "reader") {
    const db = openForReading(request.file, request.busyTimeoutMs, cacheOf(request))
    return {
      db,
      reader: new ChainReader(db),
      outbox: new OutboxReader(db),
      writer: null,
      limits: null,
      checkpoints: null,
      requireInPlace: () => undefined,
      close: () => db.close()
    }
  }
  const opened = openForWriting(request.file, request.busyTimeoutMs, migrations, cacheOf(request))
  try {
    return writing(opened, request)
  } catch (error) {
    opened.close()
    throw error
  }
}

const writing = ({ close, db, requireInPlace }: WritableDatabase, { file }: OpenRequest): Connection => {
  const checkpoints = file === inMemory ? null : new Checkpoints(db)
  checkpoints?.found()
  return {
    db,
    reader: new ChainReader(db),
    outbox: new OutboxReader(db),
    writer: new ChainWriter(db),
    limits: new Limits(db),
    checkpoints,
    requireInPlace,
    close: () => {
      checkpoints?.close()
      close()
    }
  }
}

/** One connection, opened and closed by requests like any other. */
export class RequestServer {
  readonly #post: Post
  #connection: Connection | null = null
  /** Why the last attempt to open failed, for requests that were sent behind it. */
  #notOpen: unknown = null
  /** Answers that wait for those of the other requests they came with. */
  #replies: Array<Reply> = []
  #transfer: Array<ArrayBuffer> = []
  /** Belongs to one connection. */
  rehasher: { readonly of: Connection; readonly rehasher: SqliteRehasher } | null = null

  constructor(post: Post) {
    this.#post = post
  }

  /**
   * Answers requests in their order. What it throws (a rollback that failed) leaves the connection unfit for anything
   * more.
   */
  serve(posted: ReadonlyArray<Posted>): void {
    let sinceMs = performance.now()
    for (const { id, request } of posted) {
      this.#guarded(id, () => this.#answer(id, request), isWrite(request) ? "unknown" : "no")
      if (performance.now() - sinceMs < gatherMs) continue
      this.#sendReplies()
      sinceMs = performance.now()
    }
    this.#sendReplies()
  }

  /** Lets go of the file. */
  close(): void {
    const connection = this.#connection
    this.#connection = null
    connection?.close()
  }

  /** Answers one request; a buffer is transferred. */
  #answer(id: number, request: WorkerRequest): void {
    if (isWrite(request)) this.#connection?.requireInPlace()
    switch (request.op) {
      case "open":
        this.close()
        try {
          this.#connection = open(request)
        } catch (error) {
          this.#notOpen = error
          throw error
        }
        return this.#ok(id, null)
      case "close":
        this.close()
        return this.#ok(id, null)
      case "commit":
        return this.#commit(id, request.nowMs, request.changes)
      case "lease":
        return this.#ok(id, this.#writer().lease(request.name, request.holder, request.nowMs, request.untilMs))
      case "releaseLease":
        this.#writer().releaseLease(request.name, request.holder)
        return this.#ok(id, null)
      case "head":
        return this.#ok(id, this.#reader().head())
      case "get":
        return this.#ok(id, this.#reader().get(request.collection, request.id))
      case "find":
        return this.#ok(id, this.#reader().find(request.collection, request.key, request.value))
      case "range":
        return this.#ok(id, this.#reader().range(request.collection, request.key, request.range))
      case "list":
        return this.#ok(id, this.#reader().list(request.collection, request.after, request.limit, request.units))
      case "records":
        return this.#search(id, this.#reader().records(request.query))
      case "parts":
        return this.#page(id, packParts(this.#reader().parts(request.seqs)))
      case "once":
        return this.#ok(id, this.#reader().once(request.scope, request.keys))
      case "idempotencyKeys":
        return this.#ok(id, this.#reader().idempotencyKeys(request.after, request.limit))
      case "counters":
        return this.#ok(id, this.#reader().counters(request.names))
      case "limits":
        return this.#limits(id, request.requests, request.nowMs)
      case "hashes":
        return this.#okBuffer(id, this.#reader().hashes(request.tileLevel, request.from, request.count))
      case "rehash":
        return this.rehash(id, request.previous, request.to)
      case "claim":
        return this.#claim(id, request.request, request.nowMs)
      case "delivery":
        return this.#ok(id, this.#outbox().delivery(request.id))
      case "deliveriesOf":
        return this.#ok(id, this.#outbox().deliveriesOf(request.endpointId, request.before, request.limit))
      case "event":
        return this.#ok(id, this.#outbox().event(request.id))
      case "events":
        return this.#ok(id, this.#outbox().events(request.query))
      case "owned":
        return this.#ok(id, this.#outbox().owned(request.query))
      case "missed":
        return this.#ok(id, this.#outbox().missed(request.query))
      case "forget":
        return this.#forget(id, request.request)
    }
  }

  /**
   * The callers have their answers before the log is copied back, except after an erasure: then the bytes are gone from
   * the files first.
   */
  #commit(id: number, nowMs: number, changes: ReadonlyArray<PreparedChange>): void {
    const { answers, erased, hasDeliveries } = this.#writer().commit(nowMs, changes)
    if (erased) this.#connection?.checkpoints?.erased()
    this.#ok(id, { answers, hasDeliveries })
    this.#sendReplies()
    this.#connection?.checkpoints?.committed(changes.reduce((sum, { weight }) => sum + weight.bytes, 0))
  }

  #limits(id: number, requests: ReadonlyArray<LimitRequest>, nowMs: number): void {
    this.#ok(id, this.#required(this.#connection?.limits, "writing").take(requests, nowMs))
    this.#sendReplies()
    this.#connection?.checkpoints?.committed(0)
  }

  #claim(id: number, request: ClaimRequest, nowMs: number): void {
    this.#ok(id, this.#writer().claim(request, nowMs))
    this.#sendReplies()
    this.#connection?.checkpoints?.committed()
  }

  #forget(id: number, request: ForgetRequest): void {
    this.#ok(id, this.#writer().forget(request))
    this.#sendReplies()
    this.#connection?.checkpoints?.committed()
  }

  /** Goes on with a search slice by slice; other requests are served in between. */
  #search(id: number, slices: ReturnType<ChainReader["records"]>): void {
    const { done, value } = slices.next()
    if (done === true) return this.#page(id, packRecords(value))
    setImmediate(() => {
      this.#guarded(id, () => this.#search(id, slices))
      this.#sendReplies()
    })
  }

  /**
   * The first of a connection waits for its code to be loaded; other requests are served meanwhile, as between two
   * slices.
   */
  rehash(id: number, previous: Head | null, to: number): void {
    const connection = this.#required(this.#connection, "reading")
    if (this.rehasher?.of === connection) return this.#foldOn(id, connection, this.rehasher.rehasher.fold(previous, to))
    import("../rehash.ts").then(
      ({ SqliteRehasher }) => {
        this.#guarded(id, () => {
          const now = this.#required(this.#connection, "reading")
          this.rehasher = { of: now, rehasher: new SqliteRehasher(now.db) }
          this.#foldOn(id, now, this.rehasher.rehasher.fold(previous, to))
        })
        this.#sendReplies()
      },
      (error: unknown) => {
        this.#replies.push({ id, ok: false, fault: faultOf(error, "no") })
        this.#sendReplies()
      }
    )
  }

  #foldOn(id: number, connection: Connection, slices: ReturnType<SqliteRehasher["fold"]>): void {
    if (this.#connection !== connection) throw new StoreRefused("it was closed while its records were checked")
    const { done, value } = slices.next()
    if (done === true) return this.#ok(id, value)
    setImmediate(() => {
      this.#guarded(id, () => this.#foldOn(id, connection, slices))
      this.#sendReplies()
    })
  }

  #required<A>(part: A | null | undefined, what: string): A {
    if (part === null || part === undefined)
      throw this.#notOpen ?? new StoreRefused(`this connection is not open for ${what}`)
    return part
  }

  #writer(): ChainWriter {
    return this.#required(this.#connection?.writer, "writing")
  }

  #reader(): ChainReader {
    return this.#required(this.#connection?.reader, "reading")
  }

  #outbox(): OutboxReader {
    return this.#required(this.#connection?.outbox, "reading")
  }

  #ok(id: number, value: unknown): void {
    this.#replies.push({ id, ok: true, value })
  }

  #page(id: number, page: RecordPage | PartPage): void {
    this.#ok(id, page)
    this.#transfer.push(page.bytes.buffer)
  }

  #okBuffer(id: number, value: ArrayBuffer): void {
    this.#replies.push({ id, ok: true, value })
    this.#transfer.push(value)
  }

  #sendReplies(): void {
    const replies = this.#replies
    const transfer = this.#transfer
    this.#replies = []
    this.#transfer = []
    if (replies.length > 0) this.#post(replies, transfer)
  }

  /** A fault is answered. What is not one (a rollback that failed) goes up. */
  #guarded(id: number, run: () => void, wrote: "no" | "unknown" = "no"): void {
    try {
      run()
    } catch (error) {
      if (error instanceof AggregateError) throw error
      this.#replies.push({ id, ok: false, fault: faultOf(error, wrote) })
    }
  }
}
