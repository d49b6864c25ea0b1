/** Cases on what an endpoint missed, and on forgetting what is over. */
import assert from "node:assert/strict"
import type { ForgetRequest, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { storageCase } from "../storage-case.ts"
import { begin, dies, endpoint, event, refused } from "./given.ts"

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const dayMs = 86_400_000
const everything = { leaseMs: 60_000, limit: 1000, perEndpoint: 1000 }
const states = ["succeeded", "failed", "cancelled"] as const

/** Claims everything that is due, and ends it in this state. */
const end = Effect.fnUntraced(function* (storage: StorageApi, state: (typeof states)[number], nowMs: number) {
  const { claimed } = yield* storage.outbox.claim(everything)
  yield* storage.commit({
    moves: claimed.map(({ delivery: { attempts, id } }) => ({
      id,
      from: { state: "in_flight", attempts },
      to: { state },
      ended: { endedAtMs: nowMs, statusCode: 200, errorCode: null, responseExcerpt: "" }
    }))
  })
  return claimed.map(({ delivery }) => delivery.id)
})

/** Goes through all of them, `limit` at a time. */
const forgetAll = Effect.fnUntraced(function* (
  storage: StorageApi,
  what: ForgetRequest["what"],
  beforeMs: number,
  limit = 1000
) {
  let count = 0
  for (let after: string | undefined, reads = 0; ; reads++) {
    assert.ok(reads < 1000, "the walk does not end")
    const answer = yield* storage.outbox.forget({ what, beforeMs, limit, ...(after === undefined ? {} : { after }) })
    count += answer.count
    if (answer.next === null) return count
    after = answer.next
  }
})

const missedBy = Effect.fnUntraced(function* (
  storage: StorageApi,
  endpointId: string,
  query: {
    readonly types?: ReadonlyArray<string>
    readonly owner?: string
    readonly sinceMs?: number
    readonly limit?: number
  } = {}
) {
  const found: Array<unknown> = []
  for (let after: string | undefined; ;) {
    const page = yield* storage.outbox.missed({
      endpointId,
      types: ["thing.made"],
      owner: null,
      sinceMs: 0,
      limit: 1000,
      ...query,
      ...(after === undefined ? {} : { after })
    })
    found.push(...page.events.map(({ data }) => data["n"]))
    if (page.next === null) return found
    after = page.next
  }
})

const sequencesOf = (storage: StorageApi, endpointId: string) =>
  Effect.map(storage.outbox.deliveriesOf(endpointId, { limit: 1000 }), (found) =>
    found.map(({ sequence }) => sequence).toReversed()
  )
const numbers = (storage: StorageApi) =>
  Effect.map(storage.outbox.events({ limit: 1000 }), (found) => found.map(({ data }) => data["n"]))

/** Storage cases for missed events, and for deleting finished rows. */
export const forgetCases = [
  storageCase(
    "an event without a successful, waiting or running delivery to an endpoint counts as missed by it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({ events: [event({ n: 0 })] })
      yield* storage.commit({ puts: [endpoint("whk_a"), endpoint("whk_b")], events: [event({ n: 1 })] })
      yield* end(storage, "succeeded", start)
      yield* storage.commit({ events: [event({ n: 2 }), event({ n: "other" }, "thing.lost")] })
      yield* end(storage, "failed", start)
      yield* time.set(start + dayMs)
      yield* storage.commit({ events: [event({ n: 3 })] })
      yield* storage.commit({ cancel: [{ endpointId: "whk_a" }] })
      yield* storage.commit({ events: [event({ n: 4 })] })
      yield* storage.outbox.claim({ ...everything, perEndpoint: 2 })
      yield* storage.commit({ events: [event({ n: 5 })] })
      assert.deepEqual(yield* missedBy(storage, "whk_a"), [0, 2, 3])
      assert.deepEqual(yield* missedBy(storage, "whk_b"), [0, 2])
      assert.deepEqual(yield* missedBy(storage, "whk_none"), [0, 1, 2, 3, 4, 5])
      assert.deepEqual(yield* missedBy(storage, "\0"), [0, 1, 2, 3, 4, 5])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { limit: 1 }), [0, 2, 3])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { types: ["thing.lost", "thing.made"] }), [0, 2, "other", 3])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { types: [] }), [])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { sinceMs: start + 1 }), [3])
      // Owed once more, at the same moment and later: whichever it is, it is found.
      const [first, , second] = yield* storage.outbox.events({ limit: 3 })
      yield* storage.commit({
        again: [
          { eventId: second!.id, endpointId: "whk_a" },
          { eventId: first!.id, endpointId: "whk_b" }
        ]
      })
      assert.deepEqual(yield* missedBy(storage, "whk_a"), [0, 3])
      assert.deepEqual(yield* missedBy(storage, "whk_b"), [2])
    })
  ),
  storageCase(
    "an endpoint misses events of its own owner only",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const [a, b] = ["a".repeat(16), "b".repeat(16)]
      const owned = (n: number, owner: string) => ({ ...event({ n }), owner })
      yield* storage.commit({ events: [event({ n: 0 }), owned(1, a), owned(2, b), owned(3, a)] })
      assert.deepEqual(yield* missedBy(storage, "whk_a", { limit: 1 }), [0])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { owner: a, limit: 1 }), [1, 3])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { owner: b }), [2])
      assert.deepEqual(yield* missedBy(storage, "whk_a", { owner: "" }), [])
    })
  ),
  storageCase(
    "a search for missed events reads up to its limit and returns where to continue",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [endpoint("whk_a")], events: Array.from({ length: 5 }, (_, n) => event({ n })) })
      const query = { endpointId: "whk_a", types: ["thing.made"], owner: null, sinceMs: 0, limit: 3 }
      const events = yield* storage.outbox.events({ limit: 5 })
      const first = yield* storage.outbox.missed(query)
      assert.deepEqual(first, { events: [], next: events[2]!.id })
      assert.deepEqual(yield* storage.outbox.missed({ ...query, after: first.next! }), { events: [], next: null })
    })
  ),
  storageCase(
    "deliveries that finished before a time are forgotten with their attempts, and nothing else",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")] })
      const gone: Array<string> = []
      for (const [n, state] of states.entries()) {
        yield* storage.commit({ events: [event({ n })] })
        gone.push(...(yield* end(storage, state, start)))
      }
      yield* storage.commit({ events: [event({ n: 3 }), event({ n: 4 }), event({ n: 5 })] })
      // Of three that were made before that time one finishes after it, one is under way and one waits.
      const late = (yield* storage.outbox.claim({ ...everything, limit: 2 })).claimed
      yield* time.set(start + dayMs)
      yield* storage.commit({
        moves: [
          {
            id: late[0]!.delivery.id,
            from: { state: "in_flight", attempts: 1 },
            to: { state: "failed" },
            ended: { endedAtMs: start, statusCode: 500, errorCode: "http_status", responseExcerpt: "" }
          }
        ]
      })
      const kept = yield* storage.outbox.delivery(late[0]!.delivery.id)
      assert.equal(yield* forgetAll(storage, "events", start + dayMs), 0)
      assert.equal(yield* forgetAll(storage, "deliveries", start), 0)
      assert.equal(yield* forgetAll(storage, "deliveries", start + dayMs, 2), 3)
      assert.deepEqual(yield* Effect.forEach(gone, (id) => storage.outbox.delivery(id)), [null, null, null])
      assert.deepEqual(yield* storage.outbox.delivery(late[0]!.delivery.id), kept)
      assert.deepEqual(yield* sequencesOf(storage, "whk_a"), [4, 5, 6])
      assert.deepEqual(
        (yield* storage.outbox.deliveriesOf("whk_a", { before: 6, limit: 1 })).map(({ sequence }) => sequence),
        [5]
      )
      assert.equal(yield* forgetAll(storage, "events", start + dayMs, 2), 3)
      assert.deepEqual(yield* numbers(storage), [3, 4, 5])
      assert.deepEqual(
        (yield* storage.outbox.claim(everything)).claimed.map(({ event: { data } }) => data["n"]),
        [5]
      )
      yield* storage.commit({ events: [event({ n: 6 })] })
      assert.deepEqual(yield* sequencesOf(storage, "whk_a"), [4, 5, 6, 7])
    })
  ),
  storageCase(
    "an event stays while a delivery refers to it, a repeated one included, and the newest stays for ever",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({
        puts: [endpoint("whk_a")],
        events: [event({ n: 0 }), event({ n: 1 }), event({ n: "nobody" }, "thing.lost")]
      })
      yield* end(storage, "failed", start)
      const [again, other] = yield* storage.outbox.events({ limit: 2 })
      yield* time.set(start + 40 * dayMs)
      yield* storage.commit({ again: [{ eventId: again!.id, endpointId: "whk_a" }] })
      yield* storage.commit({ events: [event({ n: "last" }, "thing.lost")] })
      yield* time.set(start + 50 * dayMs)
      assert.equal(yield* forgetAll(storage, "deliveries", start + dayMs), 2)
      assert.equal(yield* forgetAll(storage, "events", start + dayMs), 2)
      assert.deepEqual(yield* numbers(storage), [0, "last"])
      assert.deepEqual(yield* refused(storage, { again: [{ eventId: other!.id, endpointId: "whk_a" }] }), [
        { _tag: "Event", id: other!.id }
      ])
      yield* end(storage, "succeeded", start + 50 * dayMs)
      assert.equal(yield* forgetAll(storage, "events", start + 60 * dayMs), 0)
      assert.equal(yield* forgetAll(storage, "deliveries", start + 60 * dayMs), 1)
      assert.equal(yield* forgetAll(storage, "events", start + 60 * dayMs), 1)
      assert.deepEqual(yield* numbers(storage), ["last"])
      // The id of the next follows the newest though the clock stepped back.
      yield* time.set(start)
      yield* storage.commit({ events: [event({ n: "next" })] })
      assert.deepEqual(yield* numbers(storage), ["last", "next"])
      assert.deepEqual(yield* sequencesOf(storage, "whk_a"), [4])
    })
  ),
  storageCase(
    "a search to forget reads up to its limit, however much is kept, and the next continues after it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: Array.from({ length: 7 }, (_, n) => event({ n })) })
      yield* time.set(start + dayMs)
      const request = { what: "deliveries", beforeMs: start + dayMs, limit: 4 } as const
      const first = yield* storage.outbox.forget(request)
      assert.deepEqual([first.count, typeof first.next], [0, "string"])
      assert.deepEqual(yield* storage.outbox.forget({ ...request, after: first.next! }), { count: 0, next: null })
      yield* storage.commit({ cancel: [{ endpointId: "whk_a" }] })
      assert.equal(yield* forgetAll(storage, "deliveries", start + dayMs + 1, 2), 7)
      assert.deepEqual(yield* storage.outbox.forget({ ...request, beforeMs: 0 }), { count: 0, next: null })
    })
  ),
  storageCase(
    "an event that is owed again while it is forgotten is either found or refused",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({ events: Array.from({ length: 60 }, (_, n) => event({ n }, "thing.lost")) })
      const events = yield* storage.outbox.events({ limit: 60 })
      yield* time.set(start + dayMs)
      const [exits] = yield* Effect.all(
        [
          Effect.forEach(
            events,
            ({ id }) => Effect.exit(storage.commit({ again: [{ eventId: id, endpointId: "whk_a" }] })),
            { concurrency: 8 }
          ),
          Effect.forEach(events, () => storage.outbox.forget({ what: "events", beforeMs: start + dayMs, limit: 20 }), {
            concurrency: 3
          })
        ],
        { concurrency: "unbounded" }
      )
      const owed = exits.filter(({ _tag }) => _tag === "Success").length
      assert.equal((yield* storage.outbox.claim(everything)).claimed.length, owed)
      assert.equal((yield* storage.outbox.deliveriesOf("whk_a", { limit: 1000 })).length, owed)
    })
  ),
  storageCase(
    "an invalid request to forget or to search is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      for (const wrong of [{ limit: 0 }, { limit: 1001 }, { beforeMs: -1 }, { beforeMs: 0.5 }]) {
        yield* dies(
          storage.outbox.forget({ what: "events", beforeMs: 0, limit: 1, ...wrong }),
          `forgetting with ${JSON.stringify(wrong)}`
        )
      }
      yield* dies(
        storage.outbox.missed({ endpointId: "whk_a", types: [], owner: null, sinceMs: 0, limit: 0 }),
        "a search with limit 0"
      )
    })
  )
]
