/** The Storage port on SQLite: `node:sqlite` behind storage workers. */
import type {
  ChangeSet,
  ClaimAnswer,
  CommitReceipt,
  CommitTurn,
  Document,
  JsonObject,
  ReadFault,
  StorageApi,
  StorageChoice,
  StoredEvent
} from "@flyball/core/storage"
import {
  changeProblem,
  claimProblem,
  documentActs,
  Entropy,
  forgetRequestProblem,
  isStorable,
  limitProblem,
  LIST_UNITS,
  listDocuments,
  namedProblem,
  partCount,
  plannedTimeMs,
  queryProblem,
  rangeProblem,
  readDocuments,
  readyOutbox,
  saltBytes,
  Storage,
  StorageConflict,
  storageChoice,
  StorageCorrupt,
  StorageUnavailable,
  unitsOf
} from "@flyball/core/storage"
import { Clock, Effect, Exit, Layer } from "effect"
import { groupCommit } from "../group-commit.ts"
import { groupTakes } from "../group-takes.ts"
import type { Answer, Fault } from "./answers.ts"
import { inMemory } from "./layout.ts"
import { DocumentCache } from "./document-cache.ts"
import { OutboxTracker } from "./outbox/outbox-tracker.ts"
import { optionsProblem } from "./options-problem.ts"
import { prepare, type PreparedChange } from "./prepared-change.ts"
import type { DocumentRow, EventRow } from "./thread/protocol.ts"
import { sqliteRetirement } from "./retire.ts"
import { readParts, readRecords } from "./rows.ts"
import type { SqliteOptions, Threads } from "./thread/threads.ts"
import { call, errorOf, openThreads } from "./thread/threads.ts"

/** Most documents of one answer that are remembered. */
const maxKept = 100
/** Most records that are folded in one call. Spec: port. */
const maxRehashed = 10_000

/**
 * A store in one SQLite file, or in memory.
 *
 * One process writes a file; a second one that tries is refused when it opens. Others read it with `readOnly`.
 *
 * - Fails, when it is opened: `StorageUnavailable`, also where an option is not what it should be; through the plain
 *   client that is `invalid_option`.
 * - Spec: decision 0004.
 */
export const sqliteStorage = (options: SqliteOptions): StorageChoice => ({
  ...storageChoice(
    "sqlite",
    sqliteLayer(options),
    options?.file === inMemory ? null : sqliteRetirement(options, sqliteLayer),
    optionsProblem(options)
  ),
  readOnly: options?.readOnly === true
})

/** The layer behind {@link sqliteStorage}. */
export const sqliteLayer = (options: SqliteOptions): Layer.Layer<Storage, ReadFault> =>
  Layer.effect(
    Storage,
    Effect.flatMap(openThreads(options), (threads) => makeStorage(threads))
  )

/** The port over open threads. */
export const makeStorage = Effect.fnUntraced(function* (threads: Threads) {
  const cache = new DocumentCache()
  const outboxTracker = new OutboxTracker()
  const commit = yield* makeCommit(threads, cache, outboxTracker)
  const { reader: read, writer } = threads
  const take =
    writer === null
      ? () => Effect.fail(readOnly)
      : yield* groupTakes(
          (requests) =>
            Effect.flatMap(Clock.currentTimeMillis, (nowMs) => call(writer, { op: "limits", requests, nowMs })),
          () => closed
        )
  // Where another process writes, nothing that was read stays true; and a store without a file ends with its worker,
  // which must be seen.
  const alone = threads.writer !== null && threads.writer !== threads.reader
  const head = Effect.suspend(() => {
    if (alone && cache.head !== null) return Effect.succeed(cache.head)
    const before = cache.askHead()
    return Effect.map(call(read, { op: "head" }), (found) => {
      if (alone) cache.keepHead(before, found)
      return found
    })
  })
  /** Answers a look-up from memory, or asks and remembers. */
  const lookUp = (
    collection: string,
    key: string,
    ask: Effect.Effect<ReadonlyArray<DocumentRow>, ReadFault>
  ): Effect.Effect<ReadonlyArray<Document>, ReadFault> =>
    Effect.suspend(() => {
      const before = cache.lookUp(collection, key)
      if (!("shelf" in before)) return Effect.succeed(before)
      return Effect.flatMap(ask, (rows) =>
        Effect.map(readDocuments(rows), (found) => {
          if (alone && rows.length <= maxKept) cache.keep(before, found, unitsOf(rows))
          return found
        })
      )
    })
  const writing: Pick<StorageApi, "lease" | "releaseLease"> = {
    lease: (name, holder, ttlMs) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
        threads.writer === null
          ? Effect.fail(readOnly)
          : call(threads.writer, {
              op: "lease",
              name,
              holder,
              nowMs: Math.floor(nowMs),
              untilMs: Math.floor(nowMs) + ttlMs
            })
      ),
    releaseLease: (name, holder) =>
      threads.writer === null
        ? Effect.fail(readOnly)
        : Effect.asVoid(call(threads.writer, { op: "releaseLease", name, holder }))
  }
  return Storage.of({
    backend: "sqlite",
    commit,
    ...writing,
    head,
    asOf: Effect.flatMap(head, (found) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => ({ ms: plannedTimeMs(nowMs, found), seq: found?.seq ?? -1 }))
    ),
    get: (collection, id) =>
      isStorable(id)
        ? Effect.map(
            lookUp(
              collection,
              `id\0${id}`,
              Effect.map(call(read, { op: "get", collection, id }), (row) => (row === null ? [] : [row]))
            ),
            ([found]) => found ?? null
          )
        : Effect.succeed(null),
    find: (collection, key, value) =>
      isStorable(value)
        ? lookUp(collection, `key\0${key}\0${value}`, call(read, { op: "find", collection, key, value }))
        : Effect.succeed([]),
    range: (collection, key, range) =>
      Effect.suspend(() => {
        invariant(rangeProblem(range))
        return Effect.flatMap(call(read, { op: "range", collection, key, range }), readDocuments)
      }),
    list: (collection, page) =>
      listDocuments(page, (after, limit) =>
        Effect.map(call(read, { op: "list", collection, after, limit, units: LIST_UNITS }), (rows) => ({
          rows,
          isCut: unitsOf(rows) >= LIST_UNITS
        }))
      ),
    record: (seq) =>
      Effect.map(
        call(read, { op: "records", query: { from: seq, to: seq, limit: 1 } }),
        (page) => readRecords(page)[0] ?? null
      ),
    records: (query) =>
      Effect.suspend(() => {
        invariant(queryProblem(query))
        return Effect.map(call(read, { op: "records", query }), readRecords)
      }),
    parts: (seqs) =>
      Effect.suspend(() => {
        invariant(namedProblem("records", seqs))
        return Effect.map(call(read, { op: "parts", seqs }), readParts)
      }),
    once: (scope, keys) => call(read, { op: "once", scope, keys: keys.filter(isStorable) }),
    idempotencyKeys: (after, limit) =>
      Effect.suspend(() => {
        invariant(limitProblem(limit))
        return call(read, { op: "idempotencyKeys", after, limit })
      }),
    counters: (names) =>
      Effect.suspend(() => {
        invariant(namedProblem("counters", names))
        return call(read, { op: "counters", names })
      }),
    limits: { shared: false, take },
    hashes: (tileLevel, from, count) =>
      Effect.map(call(read, { op: "hashes", tileLevel, from, count }), (joined) => new Uint8Array(joined)),
    rehash: (previous, to) =>
      Effect.suspend(() => {
        const count = to - (previous?.seq ?? -1)
        invariant(count > maxRehashed ? `${count} records were to be folded; the most is ${maxRehashed}.` : null)
        return call(read, { op: "rehash", previous, to })
      }),
    outbox: {
      isEmpty: () => alone && outboxTracker.isEmpty,
      claim: (request) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          invariant(claimProblem(request))
          if (threads.writer === null) return Effect.fail(readOnly)
          if (alone && outboxTracker.isEmpty) return Effect.succeed(nothingToClaim)
          const before = outboxTracker.generation()
          return Effect.map(
            call(threads.writer, { op: "claim", request, nowMs: Math.floor(nowMs) }),
            ({ claimed, ...answer }) => {
              if (claimed.length + answer.lapsed.length === 0 && answer.nextAtMs === null)
                outboxTracker.foundNothing(before)
              const events = new Map([...new Set(claimed.map(({ event }) => event))].map((row) => [row, eventOf(row)]))
              return {
                ...answer,
                claimed: claimed.map(({ delivery, event, version }) => ({
                  delivery,
                  event: events.get(event)!,
                  version
                }))
              }
            }
          )
        }),
      delivery: (id) => call(read, { op: "delivery", id }),
      deliveriesOf: (endpointId, { before = Number.MAX_SAFE_INTEGER, limit }) =>
        Effect.suspend(() => {
          invariant(limitProblem(limit))
          return call(read, { op: "deliveriesOf", endpointId, before, limit })
        }),
      event: (id) => Effect.map(call(read, { op: "event", id }), (row) => (row === null ? null : eventOf(row))),
      events: ({ after = "", limit, sinceMs = null, types = null }) =>
        Effect.suspend(() => {
          invariant(limitProblem(limit))
          return Effect.map(call(read, { op: "events", query: { after, limit, sinceMs, types } }), (rows) =>
            rows.map(eventOf)
          )
        }),
      owned: (query) =>
        Effect.suspend(() => {
          invariant(limitProblem(query.limit))
          return Effect.map(call(read, { op: "owned", query }), (rows) => rows.map(eventOf))
        }),
      missed: (query) =>
        Effect.suspend(() => {
          invariant(limitProblem(query.limit))
          return Effect.map(call(read, { op: "missed", query }), ({ events, next }) => ({
            events: events.map(eventOf),
            next
          }))
        }),
      forget: (request) =>
        Effect.suspend(() => {
          invariant(forgetRequestProblem(request))
          return threads.writer === null ? Effect.fail(readOnly) : call(threads.writer, { op: "forget", request })
        })
    }
  })
})

const nothingToClaim: ClaimAnswer = { claimed: [], lapsed: [], nextAtMs: null }
const readOnly = new StorageUnavailable({
  reason: "it was opened for reading only; open it without `readOnly` in the one process that writes",
  wrote: "no"
})
const closed = new StorageUnavailable({ reason: "it was closed", wrote: "no" })

/**
 * The write: what waits in a turn is one message, and sealed, inserted and made durable in the worker.
 *
 * Salts are drawn in order of the calls.
 */
const makeCommit = Effect.fnUntraced(function* (
  { writer }: Threads,
  cache: DocumentCache,
  outboxTracker: OutboxTracker
) {
  if (writer === null) return (): Effect.Effect<CommitReceipt, ReadFault> => Effect.fail(readOnly)
  const entropy = yield* Entropy
  const submit = yield* groupCommit<Submitted, CommitReceipt, StorageConflict | ReadFault>({
    weigh: ({ change }) => change.weight,
    turn: ({ turn }) => turn,
    closed: () => closed,
    // The worker serves in order.
    maxInFlight: 2,
    run: (submitted) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        const changes = submitted.map(({ change }) => change)
        const changed = cache.changing(new Set(submitted.flatMap(({ touched }) => touched)))
        const written = Effect.map(call(writer, { op: "commit", nowMs, changes }), ({ answers, hasDeliveries }) => {
          if (hasDeliveries) outboxTracker.mayHaveDeliveries()
          return answers.map(exitOf)
        })
        return Effect.onExit(written, (exit) =>
          Effect.sync(() => {
            const known = Exit.isSuccess(exit) && exit.value.every(isKnown)
            if (!known) outboxTracker.mayHaveDeliveries()
            changed(known ? exit.value.flatMap((one) => (Exit.isSuccess(one) ? [one.value] : [])) : null)
          })
        )
      })
  })
  return (change: ChangeSet) =>
    submit(() => {
      invariant(changeProblem(change))
      return {
        change: prepare(
          change,
          entropy.bytes(partCount(change.records ?? []) * saltBytes),
          readyOutbox(change, entropy)
        ),
        touched: touchedBy(change),
        turn: change.turn
      }
    })
})

/** A ChangeSet on its way, the collections that it changes documents of, and its place among those that wait. */
interface Submitted {
  readonly change: PreparedChange
  readonly touched: ReadonlyArray<string>
  readonly turn: CommitTurn | undefined
}

const collectionOf = ({ collection }: { readonly collection: string }): string => collection
const none: ReadonlyArray<string> = []

const touchedBy = (change: ChangeSet): ReadonlyArray<string> => {
  let touched = change.puts === undefined ? none : change.puts.map(collectionOf)
  for (const act of documentActs) {
    const documents = change[act]
    if (documents !== undefined) touched = [...touched, ...documents.map(collectionOf)]
  }
  return touched
}

/** True when the end of a ChangeSet is known: written, or refused. */
const isKnown = (exit: Exit.Exit<CommitReceipt, StorageConflict | ReadFault>): boolean => {
  if (Exit.isSuccess(exit)) return true
  const error = Exit.findErrorOption(exit)
  return error._tag === "Some" && error.value._tag === "StorageConflict"
}

const exitOf = (answer: Answer): Exit.Exit<CommitReceipt, StorageConflict | ReadFault> => {
  switch (answer._tag) {
    case "Committed":
      return Exit.succeed(answer.receipt)
    case "Refused":
      return Exit.fail(new StorageConflict({ conflicts: answer.conflicts }))
    case "Failed":
      return errorExit(answer.fault)
  }
}

const errorExit = (fault: Fault): Exit.Exit<never, ReadFault> => {
  const error = errorOf(fault)
  return error instanceof StorageUnavailable || error instanceof StorageCorrupt ? Exit.fail(error) : Exit.die(error)
}

const eventOf = (row: EventRow): StoredEvent => ({ ...row, data: JSON.parse(row.data) as JsonObject })

/** Dies with the sentence, if there is one. */
const invariant = (problem: string | null): void => {
  if (problem !== null) throw new Error(problem)
}
