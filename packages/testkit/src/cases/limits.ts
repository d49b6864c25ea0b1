/** Cases on rate limits and permits. */
import assert from "node:assert/strict"
import type { LimitPolicy, LimitRequest, StorageApi, Taken } from "@flyball/core/storage"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { storageCase } from "../storage-case.ts"
import { dies } from "./given.ts"

/** Half a second into a minute. */
const start = Date.UTC(2026, 2, 1, 12) + 500
const startS = Math.ceil(start / 1000)
const dayEndS = Date.UTC(2026, 2, 2) / 1000
const HOUR_MS = 3_600_000

const minute = (limit: number): LimitPolicy => ({ name: "minute", limit, window: 60 })
const day = (limit: number): LimitPolicy => ({ name: "day", limit, window: "day" })
const ask = (cost: number, ...policies: ReadonlyArray<LimitPolicy>): LimitRequest => ({
  rows: [{ subject: "key", policies }],
  cost,
  units: 0
})
const one = (storage: StorageApi, request: LimitRequest): Effect.Effect<Taken, unknown> =>
  Effect.map(storage.limits.take([request]), ([taken]) => taken!)
const held = (holder: string, running: number, wanted: number, limit: number): LimitRequest => ({
  rows: [],
  cost: 0,
  units: 0,
  held: { subject: "key", holder, running, wanted, limit }
})

/** Rate limits and permits, by the store's clock. */
export const limitCases = [
  storageCase(
    "no more than the limit is admitted, and again one window after the end of the second",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      const request = ask(1, minute(3))
      const taken = yield* storage.limits.take([request, request, request, request])
      assert.deepEqual(
        taken.map(({ admitted, policies: [state] }) => [admitted, state!.remaining, state!.resetS, state!.refused]),
        [
          [true, 2, startS + 60, false],
          [true, 1, startS + 60, false],
          [true, 0, startS + 60, false],
          [false, 0, startS + 60, true]
        ]
      )
      assert.deepEqual([taken[0]!.atMs, taken[0]!.forMs], [start, 500])
      yield* time.set((startS + 60) * 1000 - 1)
      assert.equal((yield* one(storage, request)).admitted, false)
      yield* time.set((startS + 60) * 1000)
      assert.equal((yield* one(storage, ask(3, minute(3)))).admitted, true)
    })
  ),
  storageCase(
    "a cost above what is left takes nothing, and its reset is when enough has left",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* one(storage, ask(2, minute(5)))
      yield* time.set(start + 10_000)
      yield* one(storage, ask(2, minute(5)))
      const read = ({ admitted, policies: [state] }: Taken) => [admitted, state!.remaining, state!.resetS]
      assert.deepEqual(read(yield* one(storage, ask(3, minute(5)))), [false, 1, startS + 60])
      assert.deepEqual(read(yield* one(storage, ask(4, minute(5)))), [false, 1, startS + 70])
      assert.deepEqual(read(yield* one(storage, ask(0, minute(5)))), [true, 1, startS + 60])
      assert.deepEqual(read(yield* one(storage, ask(1, minute(5)))), [true, 0, startS + 60])
    })
  ),
  storageCase(
    "several policies and subjects are taken from together, or none is",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      const rows = [
        { subject: "key", policies: [minute(5), day(2)] },
        { subject: "key model", policies: [minute(1)] }
      ]
      const remaining = ({ admitted, policies }: Taken) => [admitted, ...policies.map((state) => state.remaining)]
      assert.deepEqual(remaining(yield* one(storage, { rows, cost: 1, units: 0 })), [true, 4, 1, 0])
      const refused = yield* one(storage, { rows, cost: 1, units: 0 })
      assert.deepEqual(remaining(refused), [false, 4, 1, 0])
      assert.deepEqual(
        refused.policies.map(({ policy, refused: isRefused, resetS, subject }) => [subject, policy, isRefused, resetS]),
        [
          ["key", "minute", false, startS + 60],
          ["key", "day", false, dayEndS],
          ["key model", "minute", true, startS + 60]
        ]
      )
    })
  ),
  storageCase(
    "a day begins at midnight UTC, and one that began goes on where the clock steps back over it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(dayEndS * 1000 - 1)
      assert.equal((yield* one(storage, ask(2, day(2)))).admitted, true)
      assert.equal((yield* one(storage, ask(1, day(2)))).admitted, false)
      yield* time.set(dayEndS * 1000)
      assert.equal((yield* one(storage, ask(1, day(2)))).admitted, true)
      yield* time.set(dayEndS * 1000 - HOUR_MS)
      const { admitted, policies } = yield* one(storage, ask(2, day(2)))
      assert.deepEqual([admitted, policies[0]!.resetS], [false, dayEndS + 86_400])
      assert.equal((yield* one(storage, ask(1, day(2)))).admitted, true)
      yield* time.set((dayEndS + 86_400) * 1000)
      assert.equal((yield* one(storage, ask(2, day(2)))).admitted, true)
    })
  ),
  storageCase(
    "units taken ahead are what is free, and what is given back is free again, once",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      const ahead = { ...ask(1, minute(5), day(9)), units: 9 }
      const taken = yield* one(storage, ahead)
      assert.deepEqual([taken.admitted, taken.ahead, taken.policies[0]!.remaining], [true, 4, 0])
      assert.equal((yield* one(storage, ask(1, minute(5)))).admitted, false)
      yield* time.set(start + 2_000)
      const back = { units: 4, marks: taken.marks }
      const returned = yield* one(storage, { ...ask(2, minute(5), day(9)), back })
      assert.deepEqual([returned.admitted, ...returned.policies.map(({ remaining }) => remaining)], [true, 2, 6])
      assert.deepEqual((yield* one(storage, { ...ahead, cost: 2, units: 1 })).ahead, 0)
    })
  ),
  storageCase(
    "where the clock steps back an hour, what was taken goes on to age, and nothing is free early",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      const taken = yield* one(storage, { ...ask(1, minute(2)), units: 1 })
      yield* time.set(start - HOUR_MS)
      const refused = yield* one(storage, ask(1, minute(2)))
      assert.deepEqual([refused.admitted, refused.policies[0]!.resetS], [false, startS + 61 - 3600])
      yield* time.set(start - HOUR_MS + 61_499)
      assert.equal((yield* one(storage, ask(1, minute(2)))).admitted, false)
      const returned = yield* one(storage, { ...ask(1, minute(2)), back: { units: 1, marks: taken.marks } })
      assert.equal(returned.admitted, true)
      yield* time.set(start - HOUR_MS + 61_500)
      assert.equal((yield* one(storage, ask(1, minute(2)))).admitted, true)
    })
  ),
  storageCase(
    "rows that have ended are forgotten, and nothing is",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* one(storage, ask(1, { name: "long", limit: 1, window: 3600 }))
      for (let passed = 0; passed < HOUR_MS; passed += 600_000) {
        yield* time.set(start + passed)
        const other = { rows: [{ subject: `other ${passed}`, policies: [minute(1)] }], cost: 1, units: 0 }
        assert.equal((yield* one(storage, other)).admitted, true)
        assert.equal((yield* one(storage, ask(1, { name: "long", limit: 1, window: 3600 }))).admitted, false)
      }
    })
  ),
  storageCase(
    "permits are the sum over processes that were heard of in the last 15 seconds",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      const read = (request: LimitRequest) => Effect.map(one(storage, request), (taken) => taken.held)
      assert.deepEqual(yield* read(held("a", 0, 2, 3)), { granted: 2, inFlight: 2 })
      assert.deepEqual(yield* read(held("b", 0, 2, 3)), { granted: 1, inFlight: 3 })
      assert.deepEqual(yield* read(held("b", 1, 1, 3)), { granted: 0, inFlight: 3 })
      yield* time.set(start + 14_999)
      assert.deepEqual(yield* read(held("b", 1, 1, 3)), { granted: 0, inFlight: 3 })
      yield* time.set(start + 15_000)
      assert.deepEqual(yield* read(held("b", 1, 9, 3)), { granted: 2, inFlight: 3 })
      assert.deepEqual(yield* read(held("a", 2, 1, 3)), { granted: 0, inFlight: 5 })
      assert.deepEqual(yield* read(held("b", 0, 0, 0)), { granted: 0, inFlight: 2 })
      yield* time.set(start - HOUR_MS)
      assert.deepEqual(yield* read(held("b", 0, 3, 3)), { granted: 1, inFlight: 3 })
      yield* time.set(start - HOUR_MS + 16_000)
      assert.deepEqual(yield* read(held("b", 1, 3, 3)), { granted: 2, inFlight: 3 })
    })
  ),
  storageCase(
    "of many requests at once exactly those that fit are admitted",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      const taken = yield* Effect.all(
        Array.from({ length: 50 }, (_, n) =>
          one(storage, {
            rows: [
              { subject: n % 2 === 0 ? "b" : "a", policies: [minute(100)] },
              { subject: "key", policies: [minute(20)] }
            ],
            cost: 1,
            units: 0
          })
        ),
        { concurrency: "unbounded" }
      )
      assert.equal(taken.filter(({ admitted }) => admitted).length, 20)
    })
  ),
  storageCase(
    "a cost above a limit, a subject twice and a window of nothing are defects; limits write no record",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* dies(one(storage, ask(3, minute(2))), "a cost that never fits")
      yield* dies(one(storage, ask(1, { ...minute(2), window: 0 })), "no window")
      const row = { subject: "key", policies: [minute(2)] }
      yield* dies(one(storage, { rows: [row, row], cost: 1, units: 0 }), "a subject twice")
      yield* one(storage, ask(1, minute(2)))
      assert.equal(yield* storage.head, null)
    })
  )
]
