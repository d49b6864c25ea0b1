import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerOf } from "../storage/choice.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import type { LimitRow } from "../storage/limits/slots.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { type LimitsApi, Storage } from "../storage/port.ts"
import { RateLimits } from "./rate-limits.ts"

/** Half a second into a second. */
const start = Date.UTC(2026, 2, 1, 12) + 500
const rows = (limit: number, subject = "key"): ReadonlyArray<LimitRow> => [
  { subject, policies: [{ name: "minute", limit, window: 60 }] }
]

/** Limits over memory whose calls are counted, and changed by `around`. */
const world = (around: (limits: LimitsApi) => Partial<LimitsApi> = () => ({})) => {
  const calls: Array<number> = []
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (store) => {
      const limits = { ...store.limits, ...around(store.limits) }
      const take: LimitsApi["take"] = (requests) => {
        calls.push(requests.length)
        return limits.take(requests)
      }
      return Storage.of({ ...store, limits: { ...limits, take } })
    })
  ).pipe(Layer.provide(layerOf(memoryStorage())))
  return { calls, layer: Layer.provideMerge(RateLimits.layer, storage) }
}
const takeTimes = (count: number, limit: number) =>
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const answers = []
    for (let n = 0; n < count; n++) answers.push(yield* limits.take({ rows: rows(limit), cost: 1 }))
    return answers
  })
const stored = Effect.flatMap(Storage, ({ limits }) =>
  Effect.map(limits.take([{ rows: rows(100), cost: 0, units: 0 }]), ([taken]) => taken!.policies[0]!.remaining)
)

describe("rate limits", () => {
  it.effect("hand out a twentieth from memory, and admit exactly the limit", () => {
    const { calls, layer } = world()
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const answers = yield* takeTimes(150, 100)
      assert.deepStrictEqual(
        answers.map(({ admitted, binding }) => [admitted, binding.remaining]),
        Array.from({ length: 150 }, (_, n) => [n < 100, Math.max(0, 99 - n)])
      )
      assert.deepStrictEqual(answers[100]!.binding, {
        subject: "key",
        policy: "minute",
        limit: 100,
        remaining: 0,
        resetS: Math.ceil(start / 1000) + 60
      })
      assert.strictEqual(answers[100]!.retryAfterS, 61)
      assert.lengthOf(calls, 21)
    }).pipe(Effect.provide(layer))
  })

  it.effect("give back what was not used, when its second is over and when they end", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* takeTimes(2, 100)
      assert.strictEqual(yield* stored, 95)
      yield* TestClock.adjust(2_000)
      assert.strictEqual(yield* stored, 98)
      yield* Effect.provide(Effect.asVoid(takeTimes(1, 100)), Layer.fresh(RateLimits.layer))
      assert.strictEqual(yield* stored, 97)
    }).pipe(Effect.provide(layer))
  })

  it.effect("use no unit after its second, however late the store answers", () => {
    let waitMs = 800
    const { calls, layer } = world(({ take }) => ({
      take: (requests) => Effect.suspend(() => Effect.delay(take(requests), waitMs))
    }))
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const limits = yield* RateLimits
      const slow = yield* Effect.forkChild(limits.take({ rows: rows(100), cost: 1 }), { startImmediately: true })
      yield* TestClock.adjust(800)
      yield* Fiber.join(slow)
      waitMs = 0
      const next = yield* Effect.forkChild(limits.take({ rows: rows(100), cost: 1 }), { startImmediately: true })
      yield* Fiber.join(next)
      assert.lengthOf(calls, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("remember a refusal until the next second, with a wait that stays true", () => {
    const { calls, layer } = world()
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* takeTimes(2, 1)
      const before = calls.length
      yield* TestClock.adjust(499)
      const [again] = yield* takeTimes(1, 1)
      assert.deepStrictEqual([again!.admitted, again!.retryAfterS, calls.length], [false, 61, before])
      yield* TestClock.adjust(1)
      const [later] = yield* takeTimes(1, 1)
      assert.deepStrictEqual([later!.admitted, later!.retryAfterS, calls.length], [false, 60, before + 1])
      yield* TestClock.adjust(60_000)
      assert.isTrue((yield* takeTimes(1, 1))[0]!.admitted)
    }).pipe(Effect.provide(layer))
  })

  it.effect("take one by one from slow rows that processes share, and half of the last second from fast ones", () => {
    const { calls, layer } = world(() => ({ shared: true }))
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* takeTimes(10, 100)
      assert.lengthOf(calls, 10)
      yield* takeTimes(40, 6_000)
      assert.lengthOf(calls, 50)
      yield* TestClock.adjust(600)
      const before = calls.length
      yield* takeTimes(40, 6_000)
      assert.strictEqual(calls.length - before, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ask the store once for all who wait, and take no unit for one that gave up", () => {
    const { calls, layer } = world(({ take }) => ({ take: (requests) => Effect.delay(take(requests), 10) }))
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const limits = yield* RateLimits
      const taking = Effect.forkChild(limits.take({ rows: rows(19), cost: 1 }), { startImmediately: true })
      const [first, ...others] = yield* Effect.all(Array.from({ length: 25 }, () => taking))
      yield* Fiber.interrupt(first!)
      yield* TestClock.adjust(100)
      const answers = yield* Effect.forEach(others, (fiber) => Fiber.join(fiber))
      assert.lengthOf(
        answers.filter(({ admitted }) => admitted),
        19
      )
      assert.isAtMost(calls.length, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("fail as the store does, and go on", () => {
    let isAway = true
    const away = new StorageUnavailable({ reason: "away", wrote: "no" })
    const { layer } = world(({ take }) => ({ take: (requests) => (isAway ? Effect.fail(away) : take(requests)) }))
    return Effect.gen(function* () {
      const exits = yield* Effect.all([takeTimes(1, 5), takeTimes(1, 5)].map(Effect.exit), { concurrency: 2 })
      assert.deepStrictEqual(exits.map(Exit.isFailure), [true, true])
      isAway = false
      assert.isTrue((yield* takeTimes(1, 5))[0]!.admitted)
    }).pipe(Effect.provide(layer))
  })

  it.effect("name the policy with the longest wait, else the one with the least left", () => {
    const { layer } = world()
    const both: ReadonlyArray<LimitRow> = [
      { subject: "key", policies: [{ name: "minute", limit: 3, window: 60 }] },
      { subject: "key model", policies: [{ name: "hour", limit: 2, window: 3_600 }] }
    ]
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const limits = yield* RateLimits
      assert.strictEqual((yield* limits.look(both)).binding.policy, "minute")
      const taken = yield* limits.take({ rows: both, cost: 2 })
      assert.deepStrictEqual([taken.binding.subject, taken.binding.remaining], ["key model", 0])
      const refused = yield* limits.take({ rows: both, cost: 2 })
      assert.deepStrictEqual([refused.binding.policy, refused.retryAfterS], ["hour", 3_601])
      assert.deepStrictEqual(
        refused.policies.map(({ remaining }) => remaining),
        [0, 0]
      )
      const after = yield* limits.look(both)
      assert.deepStrictEqual(
        after.policies.map(({ remaining }) => remaining),
        [1, 0]
      )
      assert.isTrue(Exit.hasDies(yield* Effect.exit(limits.take({ rows: both, cost: 3 }))))
      assert.isTrue(Exit.hasDies(yield* Effect.exit(limits.take({ rows: [], cost: 1 }))))
    }).pipe(Effect.provide(layer))
  })
})
