/**
 * Cases on what a commit does to the outbox: events, who is owed them, moves, cancellations. What is claimed is in
 * `claims.ts`.
 */
import assert from "node:assert/strict"
import type { Claimed, DeliveryMove, OwnedQuery, StorageApi } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { observe } from "../observe.ts"
import { storageCase } from "../storage-case.ts"
import { begin, dies, draft, drafts, endpoint, event, idempotentDraft, put, refused } from "./given.ts"

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const scene = { collections: ["things", "webhooks"], once: [] }
const everything = { leaseMs: 60_000, limit: 1000, perEndpoint: 1000 }

/** Event type and sequence of what an endpoint is owed, oldest first. */
const owedTo = Effect.fnUntraced(function* (storage: StorageApi, endpointId: string) {
  const found = yield* storage.outbox.deliveriesOf(endpointId, { limit: 1000 })
  return yield* Effect.forEach(found.toReversed(), ({ eventId, sequence }) =>
    Effect.map(storage.outbox.event(eventId), (owed) => [owed?.type, sequence])
  )
})

const onlyOf = Effect.fnUntraced(function* (storage: StorageApi, endpointId: string) {
  const [only, ...more] = yield* storage.outbox.deliveriesOf(endpointId, { limit: 10 })
  assert.deepEqual(more, [])
  return only!
})

const ended = { endedAtMs: start + 70, statusCode: 503, errorCode: "http_status", responseExcerpt: "" } as const

/** Storage cases for the outbox in a commit. */
export const outboxCases = [
  storageCase(
    "an event has an id, its time and the head of its commit, and its data is read back unchanged",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* begin(storage)
      const data = { agent_id: "\u00e9", n: [1, 0.5, null, "\u0000"], "\u0000": { deep: true } }
      const first = yield* storage.commit({ records: drafts(3), events: [event(data, "agent.suspended"), event()] })
      const second = yield* storage.commit({ puts: [put("t1")], events: [event({}, "chain.checkpoint")] })
      yield* storage.commit({ records: [draft()] })
      const found = yield* storage.outbox.events({ limit: 10 })
      assert.deepEqual(
        found.map(({ atMs, seq, type }) => [type, seq, atMs]),
        [
          ["agent.suspended", 3, start],
          ["thing.made", 3, start],
          ["chain.checkpoint", 3, start]
        ]
      )
      assert.deepEqual(found[0]!.data, data)
      for (const { hash, id } of found) {
        assert.equal(toHex(hash), toHex(first.head.hash))
        assert.match(id, /^evt_[0-9a-hjkmnp-tv-z]{26}$/)
      }
      assert.equal(toHex(second.head.hash), toHex(first.head.hash))
      assert.deepEqual(yield* storage.outbox.event(found[1]!.id), found[1])
      assert.equal(yield* storage.outbox.event("evt_none"), null)
      assert.equal(yield* storage.outbox.event("\0"), null)
    })
  ),
  storageCase(
    "an event of 64 KiB is kept whole",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const data = { text: "x".repeat(64 * 1024 - '{"text":""}'.length) }
      yield* storage.commit({ events: [event(data)] })
      assert.deepEqual(
        (yield* storage.outbox.events({ limit: 1 })).map((found) => [found.data, found.seq]),
        [[data, -1]]
      )
    })
  ),
  storageCase(
    "every endpoint that subscribes to a type is owed its events, after the puts of the same ChangeSet",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* begin(storage)
      yield* storage.commit({
        puts: [
          endpoint("whk_a"),
          endpoint("whk_b", ["thing.made", "thing.lost"]),
          endpoint("whk_c", ["thing.lost"]),
          endpoint("whk_d", [], { keys: { "on:thing.made": "no" } })
        ]
      })
      yield* storage.commit({ puts: [put("whk_x", {}, { keys: { "on:thing.made": "yes" } })], events: [event()] })
      yield* storage.commit({
        puts: [
          endpoint("whk_a", [], { expectedVersion: 1 }),
          endpoint("whk_c", ["thing.made"], { expectedVersion: 1 }),
          endpoint("whk_\u{1f600}"),
          endpoint("whk_\uffee")
        ],
        events: [event(), event({}, "thing.lost"), event({}, "nobody.wanted")]
      })
      assert.deepEqual(yield* owedTo(storage, "whk_a"), [["thing.made", 1]])
      assert.deepEqual(yield* owedTo(storage, "whk_b"), [
        ["thing.made", 1],
        ["thing.made", 2],
        ["thing.lost", 3]
      ])
      assert.deepEqual(yield* owedTo(storage, "whk_c"), [["thing.made", 1]])
      for (const id of ["whk_\u{1f600}", "whk_\uffee"])
        assert.deepEqual(yield* owedTo(storage, id), [["thing.made", 1]])
      for (const id of ["whk_d", "whk_x", "whk_none", "\0"]) assert.deepEqual(yield* owedTo(storage, id), [])
      const owed = yield* onlyOf(storage, "whk_a")
      assert.match(owed.id, /^dlv_[0-9a-hjkmnp-tv-z]{26}$/)
      const [made] = yield* storage.outbox.events({ limit: 1 })
      assert.deepEqual(owed, {
        id: owed.id,
        eventId: made!.id,
        endpointId: "whk_a",
        sequence: 1,
        state: "pending",
        attempts: 0,
        createdAtMs: start,
        nextAttemptAtMs: start,
        leaseUntilMs: null,
        finishedAtMs: null
      })
      assert.deepEqual(yield* storage.outbox.delivery(owed.id), { delivery: owed, attempts: [] })
      assert.equal(yield* storage.outbox.delivery("dlv_none"), null)
      assert.equal((yield* storage.outbox.events({ limit: 10 })).length, 4)
    })
  ),
  storageCase(
    "an event of an owner goes to the endpoints of that owner alone, and one without to those without",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const [a, b] = ["a".repeat(16), "b".repeat(16)]
      const owned = (n: number, owner: string, type = "thing.made") => ({ ...event({ n }, type), owner })
      yield* storage.commit({
        puts: [
          endpoint("whk_none"),
          endpoint("whk_a", [`thing.made:${a}`]),
          endpoint("whk_b", [`thing.made:${b}`]),
          endpoint("whk_ab", [`thing.made:${a}`, `thing.made:${b}`])
        ]
      })
      yield* storage.commit({ events: [event({ n: 0 }), owned(1, a)] })
      yield* storage.commit({ events: [owned(2, b), owned(3, a), owned(4, a, "thing.lost")] })
      const numbersOf = Effect.fnUntraced(function* (endpointId: string) {
        const found = yield* storage.outbox.deliveriesOf(endpointId, { limit: 10 })
        return yield* Effect.forEach(found.toReversed(), ({ eventId }) =>
          Effect.map(storage.outbox.event(eventId), (one) => [one?.data["n"], one?.owner])
        )
      })
      assert.deepEqual(yield* numbersOf("whk_none"), [[0, undefined]])
      assert.deepEqual(yield* numbersOf("whk_a"), [
        [1, a],
        [3, a]
      ])
      assert.deepEqual(yield* numbersOf("whk_b"), [[2, b]])
      assert.deepEqual(yield* numbersOf("whk_ab"), [
        [1, a],
        [2, b],
        [3, a]
      ])
      const { claimed } = yield* storage.outbox.claim(everything)
      assert.deepEqual(claimed.map(({ event: { data, owner } }) => `${String(data["n"])} ${owner}`).sort(), [
        `0 undefined`,
        `1 ${a}`,
        `1 ${a}`,
        `2 ${b}`,
        `2 ${b}`,
        `3 ${a}`,
        `3 ${a}`
      ])
      const types = ["thing.made", "thing.lost"]
      const list = Effect.fnUntraced(function* (query: Partial<OwnedQuery>) {
        const found = yield* storage.outbox.owned({ owner: a, types, limit: 10, ...query })
        return found.map(({ data }) => data["n"])
      })
      assert.deepEqual(yield* list({}), [4, 3, 1])
      assert.deepEqual(yield* list({ limit: 2 }), [4, 3])
      const [, third, first] = yield* storage.outbox.owned({ owner: a, types, limit: 10 })
      assert.deepEqual(yield* list({ before: third!.id }), [1])
      assert.deepEqual(yield* list({ after: first!.id }), [4, 3])
      assert.deepEqual(yield* list({ types: ["thing.lost"] }), [4])
      assert.deepEqual(yield* list({ types: [] }), [])
      for (const owner of ["", "\0", "c".repeat(16)]) assert.deepEqual(yield* list({ owner }), [])
      yield* dies(storage.outbox.owned({ owner: a, types, limit: 0 }), "a limit of 0")
      for (const owner of ["", "A".repeat(16), "a".repeat(15)])
        yield* dies(storage.commit({ events: [owned(9, owner)] }), `an event of the owner ${owner}`)
    })
  ),
  storageCase(
    "sequences follow the commits without a gap, even when other ChangeSets are refused",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a"), endpoint("whk_b")] })
      const exits = yield* Effect.all(
        Array.from({ length: 60 }, (_, n) =>
          Effect.exit(
            storage.commit({
              records: [draft({ n })],
              events: [event({ n }), event({ n })],
              ...(n % 3 === 0 ? { expects: [{ collection: "things", id: "none", version: 1 }] } : {})
            })
          )
        ),
        { concurrency: "unbounded" }
      )
      assert.deepEqual(
        exits.map(({ _tag }) => _tag),
        Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? "Failure" : "Success"))
      )
      const events = yield* storage.outbox.events({ limit: 1000 })
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map(({ id }) => id).toSorted()
      )
      for (const id of ["whk_a", "whk_b"]) {
        const owed = (yield* storage.outbox.deliveriesOf(id, { limit: 1000 })).toReversed()
        assert.deepEqual(
          owed.map(({ sequence }) => sequence),
          Array.from({ length: 80 }, (_, n) => n + 1)
        )
        assert.deepEqual(
          owed.map(({ eventId }) => eventId),
          events.map((each) => each.id)
        )
      }
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map(({ seq }) => seq).toSorted((a, b) => a - b)
      )
    })
  ),
  storageCase(
    "endpoints and events of one group are applied in order",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* Effect.all(
        Array.from({ length: 10 }, (_, n) =>
          storage.commit({
            puts: [endpoint("whk_a", n % 2 === 0 ? ["thing.made"] : [], { expectedVersion: n })],
            events: [event({ n })]
          })
        ),
        { concurrency: "unbounded" }
      )
      const owed = yield* storage.outbox.deliveriesOf("whk_a", { limit: 10 })
      const reported = yield* Effect.forEach(owed.toReversed(), ({ eventId }) =>
        Effect.map(storage.outbox.event(eventId), (found) => found?.data["n"])
      )
      assert.deepEqual(reported, [0, 2, 4, 6, 8])
      assert.deepEqual(
        owed.map(({ sequence }) => sequence),
        [5, 4, 3, 2, 1]
      )
    })
  ),
  storageCase(
    "ids of events follow the order of commits, even when the clock steps back",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      for (const [n, atMs] of [start, start, start - 5000, start - 5000, start + 1].entries()) {
        yield* time.set(atMs)
        yield* storage.commit({ events: [event({ n })] })
      }
      const found = yield* storage.outbox.events({ limit: 10 })
      assert.deepEqual(
        found.map(({ atMs, data }) => [data["n"], atMs]),
        [
          [0, start],
          [1, start],
          [2, start - 5000],
          [3, start - 5000],
          [4, start + 1]
        ]
      )
      const since = (sinceMs: number) =>
        Effect.map(storage.outbox.events({ sinceMs, limit: 10 }), (some) => some.map(({ data }) => data["n"]))
      assert.deepEqual(yield* since(start), [0, 1, 4])
      assert.deepEqual(yield* since(start - 5000), [0, 1, 2, 3, 4])
      assert.deepEqual(yield* since(start + 1), [4])
      assert.deepEqual(yield* since(start + 2), [])
    })
  ),
  storageCase(
    "events are read by type and start time, a page at a time",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      for (let n = 0; n < 6; n++)
        yield* storage.commit({ events: [event({ n }, n % 2 === 0 ? "thing.made" : "thing.lost")] })
      const all = yield* storage.outbox.events({ limit: 10 })
      const numbers = (query: Parameters<StorageApi["outbox"]["events"]>[0]) =>
        Effect.map(storage.outbox.events(query), (found) => found.map(({ data }) => data["n"]))
      assert.deepEqual(yield* numbers({ types: ["thing.lost"], limit: 10 }), [1, 3, 5])
      assert.deepEqual(yield* numbers({ types: ["thing.lost", "thing.made"], limit: 2 }), [0, 1])
      assert.deepEqual(yield* numbers({ types: [], limit: 10 }), [])
      assert.deepEqual(yield* numbers({ types: ["\0", "none"], limit: 10 }), [])
      assert.deepEqual(yield* numbers({ after: all[2]!.id, limit: 2 }), [3, 4])
      assert.deepEqual(yield* numbers({ after: all[2]!.id, types: ["thing.made"], sinceMs: start, limit: 10 }), [4])
      assert.deepEqual(yield* numbers({ after: all[5]!.id, limit: 10 }), [])
    })
  ),
  storageCase(
    "deliveries of an endpoint are read newest first, a page at a time",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [endpoint("whk_a")], events: [event(), event(), event(), event()] })
      const sequences = (page: { readonly before?: number; readonly limit: number }) =>
        Effect.map(storage.outbox.deliveriesOf("whk_a", page), (found) => found.map(({ sequence }) => sequence))
      assert.deepEqual(yield* sequences({ limit: 3 }), [4, 3, 2])
      assert.deepEqual(yield* sequences({ before: 2, limit: 3 }), [1])
      assert.deepEqual(yield* sequences({ before: 1, limit: 3 }), [])
      assert.deepEqual(yield* sequences({ before: 99, limit: 1 }), [4])
    })
  ),
  storageCase(
    "a repeated ChangeSet is refused by its conflict, or adds no event when all its records are duplicates",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")] })
      const act = { puts: [put("t1")], events: [event()] }
      yield* storage.commit(act)
      assert.deepEqual(yield* refused(storage, act), [
        { _tag: "Version", collection: "things", id: "t1", expected: 0, found: 1 }
      ])
      const capture = { records: [idempotentDraft("k1", "a"), idempotentDraft("k2", "a")], events: [event()] }
      yield* storage.commit(capture)
      const [first] = yield* storage.outbox.events({ limit: 1 })
      yield* storage.commit({ ...capture, again: [{ eventId: first!.id, endpointId: "whk_a" }] })
      assert.equal((yield* storage.outbox.events({ limit: 10 })).length, 2)
      assert.deepEqual(yield* owedTo(storage, "whk_a"), [
        ["thing.made", 1],
        ["thing.made", 2]
      ])
      yield* storage.commit({ records: [idempotentDraft("k2", "a"), idempotentDraft("k3", "a")], events: [event()] })
      assert.equal((yield* storage.outbox.events({ limit: 10 })).length, 3)
    })
  ),
  storageCase(
    "a delivery moves only from its current state, and a repeated outcome changes nothing",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: [event()] })
      const { id } = yield* onlyOf(storage, "whk_a")
      yield* storage.outbox.claim(everything)
      const retry: DeliveryMove = {
        id,
        from: { state: "in_flight", attempts: 1 },
        to: { state: "pending", nextAttemptAtMs: start + 60_000 },
        ended: { ...ended, responseExcerpt: "busy \u0000\ud800" }
      }
      const done: DeliveryMove = {
        id,
        from: { state: "in_flight", attempts: 2 },
        to: { state: "succeeded" },
        ended: { ...ended, statusCode: 200, errorCode: null }
      }
      const conflict = (expected: DeliveryMove["from"], found: DeliveryMove["from"]) => [
        { _tag: "Delivery" as const, id, expected, found }
      ]
      assert.deepEqual(yield* refused(storage, { moves: [done], records: [draft()] }), conflict(done.from, retry.from))
      yield* storage.commit({ moves: [retry], records: [draft()] })
      const waiting = { state: "pending", attempts: 1 } as const
      assert.deepEqual(yield* refused(storage, { moves: [retry], puts: [put("t1")] }), conflict(retry.from, waiting))
      assert.equal(yield* storage.get("things", "t1"), null)
      const after = (yield* storage.outbox.delivery(id))!
      assert.deepEqual(
        [
          after.delivery.state,
          after.delivery.nextAttemptAtMs,
          after.delivery.leaseUntilMs,
          after.delivery.finishedAtMs
        ],
        ["pending", start + 60_000, null, null]
      )
      assert.deepEqual(after.attempts, [{ attempt: 1, startedAtMs: start, ...retry.ended }])
      yield* time.set(start + 60_000)
      assert.equal((yield* storage.outbox.claim(everything)).claimed.length, 1)
      yield* time.set(start + 60_007)
      yield* storage.commit({ moves: [done] })
      const last = (yield* storage.outbox.delivery(id))!
      assert.deepEqual(
        [
          last.delivery.state,
          last.delivery.attempts,
          last.delivery.nextAttemptAtMs,
          last.delivery.leaseUntilMs,
          last.delivery.finishedAtMs
        ],
        ["succeeded", 2, null, null, start + 60_007]
      )
      assert.deepEqual(last.attempts[1], { attempt: 2, startedAtMs: start + 60_000, ...done.ended })
      assert.deepEqual(
        yield* refused(storage, { moves: [done] }),
        conflict(done.from, { state: "succeeded", attempts: 2 })
      )
    })
  ),
  storageCase(
    "a waiting delivery can be made due now, with the attempts that it had",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: [event()] })
      const { id } = yield* onlyOf(storage, "whk_a")
      yield* storage.outbox.claim(everything)
      yield* storage.commit({
        moves: [
          {
            id,
            from: { state: "in_flight", attempts: 1 },
            to: { state: "pending", nextAttemptAtMs: start + 60_000 },
            ended
          }
        ]
      })
      const before = (yield* storage.outbox.delivery(id))!
      yield* storage.commit({
        moves: [{ id, from: { state: "pending", attempts: 1 }, to: { state: "pending", nextAttemptAtMs: start } }]
      })
      assert.deepEqual(yield* storage.outbox.delivery(id), {
        ...before,
        delivery: { ...before.delivery, nextAttemptAtMs: start }
      })
      const { claimed } = yield* storage.outbox.claim(everything)
      assert.deepEqual(
        claimed.map(({ delivery }) => [delivery.id, delivery.attempts]),
        [[id, 2]]
      )
    })
  ),
  storageCase(
    "a waiting delivery can be marked as succeeded, and is not claimed any more",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: [event()] })
      const { id } = yield* onlyOf(storage, "whk_a")
      yield* storage.outbox.claim(everything)
      yield* storage.commit({
        moves: [
          {
            id,
            from: { state: "in_flight", attempts: 1 },
            to: { state: "pending", nextAttemptAtMs: start + 60_000 },
            ended
          }
        ]
      })
      const before = (yield* storage.outbox.delivery(id))!
      yield* time.set(start + 10_000)
      yield* storage.commit({ moves: [{ id, from: { state: "pending", attempts: 1 }, to: { state: "succeeded" } }] })
      assert.deepEqual(yield* storage.outbox.delivery(id), {
        ...before,
        delivery: { ...before.delivery, state: "succeeded", nextAttemptAtMs: null, finishedAtMs: start + 10_000 }
      })
      yield* time.set(start + 60_000)
      assert.deepEqual(yield* storage.outbox.claim(everything), { claimed: [], lapsed: [], nextAtMs: null })
    })
  ),
  storageCase(
    "of two outcomes of one attempt exactly one is written, and the conflict names only that delivery",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: Array.from({ length: 20 }, (_, n) => event({ n })) })
      const { claimed } = yield* storage.outbox.claim(everything)
      const outcomes = [...claimed, ...claimed].map(({ delivery: { id } }, n) =>
        storage.commit({
          moves: [
            { id, from: { state: "in_flight", attempts: 1 }, to: { state: n < 20 ? "succeeded" : "failed" }, ended }
          ],
          records: [draft({ n })]
        })
      )
      const exits = yield* Effect.all(outcomes.map(Effect.exit), { concurrency: "unbounded" })
      for (let n = 0; n < 20; n++)
        assert.deepEqual([exits[n]!._tag, exits[n + 20]!._tag].toSorted(), ["Failure", "Success"])
      assert.equal((yield* storage.head)?.seq, 20)
    })
  ),
  storageCase(
    "two hundred outcomes with their records are one commit, which one late outcome refuses",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")], events: Array.from({ length: 200 }, (_, n) => event({ n })) })
      const { claimed } = yield* storage.outbox.claim(everything)
      const moves = claimed.map(({ delivery: { id } }): DeliveryMove => ({
        id,
        from: { state: "in_flight", attempts: 1 },
        to: { state: "succeeded" },
        ended
      }))
      const late = { ...moves[7]!, from: { state: "in_flight", attempts: 2 } } as const
      const before = yield* observe(storage, scene)
      const conflicts = yield* refused(storage, {
        moves: moves.with(7, late).with(150, { ...moves[150]!, id: "dlv_none" }),
        records: drafts(200),
        events: [event()]
      })
      assert.deepEqual(
        conflicts.map((conflict) => conflict._tag === "Delivery" && conflict.id),
        [late.id, "dlv_none"]
      )
      assert.deepEqual(yield* observe(storage, scene), before)
      yield* storage.commit({ moves, records: drafts(200) })
      assert.deepEqual(
        new Set((yield* storage.outbox.deliveriesOf("whk_a", { limit: 1000 })).map(({ state }) => state)),
        new Set(["succeeded"])
      )
      assert.equal((yield* storage.head)?.seq, 200)
    })
  ),
  storageCase(
    "cancelling ends the pending deliveries of one endpoint, and keeps those in flight",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.commit({ puts: [endpoint("whk_a"), endpoint("whk_b")], events: [event(), event(), event()] })
      const { claimed } = yield* storage.outbox.claim({ ...everything, perEndpoint: 1 })
      assert.equal(claimed.length, 2)
      yield* time.set(start + 9)
      yield* storage.commit({
        puts: [endpoint("whk_a", [], { expectedVersion: 1 })],
        cancel: [{ endpointId: "whk_a" }, { endpointId: "whk_none" }],
        events: [event()]
      })
      const states = (id: string) =>
        Effect.map(storage.outbox.deliveriesOf(id, { limit: 10 }), (found) =>
          found.map(({ finishedAtMs, nextAttemptAtMs, state }) => [state, nextAttemptAtMs, finishedAtMs])
        )
      assert.deepEqual(yield* states("whk_a"), [
        ["cancelled", null, start + 9],
        ["cancelled", null, start + 9],
        ["in_flight", null, null]
      ])
      assert.deepEqual(yield* states("whk_b"), [
        ["pending", start + 9, null],
        ["pending", start, null],
        ["pending", start, null],
        ["in_flight", null, null]
      ])
      // What an outcome sends back to wait is cancelled too, where the same ChangeSet cancels.
      yield* storage.commit({
        moves: claimed.map(({ delivery }) => ({
          id: delivery.id,
          from: { state: "in_flight", attempts: 1 },
          to: { state: "pending", nextAttemptAtMs: start + 60_000 },
          ended
        })),
        cancel: [{ endpointId: "whk_a" }]
      })
      assert.deepEqual((yield* states("whk_a")).at(-1), ["cancelled", null, start + 9])
      assert.deepEqual((yield* states("whk_b")).at(-1), ["pending", start + 60_000, null])
    })
  ),
  storageCase(
    "the responses of an endpoint's receiver are forgotten on request, including the response to an " +
      "attempt that is under way",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [endpoint("whk_a"), endpoint("whk_b")], events: [event(), event(), event()] })
      const said = { ...ended, responseExcerpt: "what they said" }
      const settle = (claimed: ReadonlyArray<Claimed>) =>
        storage.commit({
          moves: claimed.map(({ delivery }) => ({
            id: delivery.id,
            from: { state: "in_flight", attempts: 1 },
            to: { state: "succeeded" },
            ended: said
          }))
        })
      yield* settle((yield* storage.outbox.claim({ ...everything, perEndpoint: 1 })).claimed)
      const { claimed } = yield* storage.outbox.claim({ ...everything, perEndpoint: 1 })
      const answers = (id: string) =>
        Effect.flatMap(storage.outbox.deliveriesOf(id, { limit: 10 }), (all) =>
          Effect.forEach(all, (one) =>
            Effect.map(storage.outbox.delivery(one.id), (found) => [
              found!.delivery.state,
              ...found!.attempts.map(({ responseExcerpt }) => responseExcerpt)
            ])
          )
        )
      yield* storage.commit({
        cancel: [
          { endpointId: "whk_a", forgetAnswers: true },
          { endpointId: "whk_none", forgetAnswers: true }
        ]
      })
      assert.deepEqual(yield* answers("whk_a"), [["cancelled"], ["in_flight", ""], ["succeeded", ""]])
      yield* settle(claimed)
      assert.deepEqual(yield* answers("whk_a"), [["cancelled"], ["succeeded", ""], ["succeeded", ""]])
      assert.deepEqual(yield* answers("whk_b"), [
        ["pending"],
        ["succeeded", "what they said"],
        ["succeeded", "what they said"]
      ])
      // What is owed to it afterwards is answered like any other.
      yield* storage.commit({ events: [event()] })
      const later = (yield* storage.outbox.claim(everything)).claimed.filter(
        ({ delivery }) => delivery.endpointId === "whk_a"
      )
      yield* settle(later)
      assert.deepEqual((yield* answers("whk_a"))[0], ["succeeded", "what they said"])
    })
  ),
  storageCase(
    "an event can be owed once more, to any endpoint, and waits like a new one",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [endpoint("whk_a")], events: [event(), event({}, "thing.lost")] })
      const [made, lost] = yield* storage.outbox.events({ limit: 2 })
      yield* storage.commit({
        again: [
          { eventId: made!.id, endpointId: "whk_a" },
          { eventId: lost!.id, endpointId: "whk_a" },
          { eventId: made!.id, endpointId: "whk_b" }
        ],
        events: [event()]
      })
      assert.deepEqual(yield* owedTo(storage, "whk_a"), [
        ["thing.made", 1],
        ["thing.made", 2],
        ["thing.made", 3],
        ["thing.lost", 4]
      ])
      assert.deepEqual(yield* owedTo(storage, "whk_b"), [["thing.made", 1]])
      const owed = yield* storage.outbox.deliveriesOf("whk_a", { limit: 10 })
      assert.deepEqual(
        owed.map(({ attempts, state }) => [state, attempts]),
        Array.from({ length: 4 }, () => ["pending", 0])
      )
      assert.equal(new Set(owed.map(({ id }) => id)).size, 4)
      assert.equal((yield* storage.outbox.claim(everything)).claimed.length, 5)
    })
  )
]
