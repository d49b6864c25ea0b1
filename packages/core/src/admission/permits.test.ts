import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { layerOf } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import { Storage } from "../storage/port.ts"
import { type Permit, Permits } from "./permits.ts"

const control = { calls: 0, isAway: false, answerMs: 0 }
/** One store, as several processes see it. */
const shared = Layer.effect(
  Storage,
  Effect.map(Storage, (store) => {
    Object.assign(control, { calls: 0, isAway: false, answerMs: 0 })
    return Storage.of({
      ...store,
      limits: {
        shared: true,
        take: (requests) => {
          control.calls++
          const { answerMs } = control
          return control.isAway
            ? Effect.fail(new StorageUnavailable({ reason: "away", wrote: "no" }))
            : Effect.tap(store.limits.take(requests), () => Effect.sleep(answerMs))
        }
      }
    })
  })
).pipe(Layer.provide(layerOf(memoryStorage())))

/** A process; `end` is in order. */
const process = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(Permits.layer), scope)
  const permits = yield* Effect.provide(Permits, context)
  return { hold: permits.hold("key", 3), end: Scope.close(scope, Exit.void) }
})
const releaseOf = (permit: Permit): Effect.Effect<void> => (permit.held ? permit.release : Effect.die("not held"))

describe("permits", () => {
  it.effect("are no more than the limit over all processes, and come back once released", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* process, yield* process]
      const first = yield* one.hold
      const second = yield* one.hold
      const third = yield* other.hold
      assert.deepStrictEqual([first.held, second.held, third.held], [true, true, true])
      assert.deepStrictEqual(yield* other.hold, { held: false, inFlight: 3 })
      yield* releaseOf(first)
      yield* releaseOf(first)
      assert.deepStrictEqual(yield* other.hold, { held: false, inFlight: 3 })
      yield* TestClock.adjust(20)
      assert.isTrue((yield* other.hold).held)
      assert.isFalse((yield* one.hold).held)
    }).pipe(Effect.provide(shared))
  )

  it.effect("are granted from memory where a call ended just before", () =>
    Effect.gen(function* () {
      const { hold } = yield* process
      yield* releaseOf(yield* hold)
      const before = control.calls
      for (let n = 0; n < 10; n++) yield* releaseOf(yield* hold)
      assert.strictEqual(control.calls, before)
    }).pipe(Effect.provide(shared))
  )

  it.effect("are not granted from memory while the store hears that fewer run", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* process, yield* process]
      const [first] = [yield* one.hold, yield* one.hold, yield* one.hold]
      yield* releaseOf(first)
      control.answerMs = 100
      yield* TestClock.adjust(20)
      control.answerMs = 0
      assert.isTrue((yield* other.hold).held)
      const late = yield* Effect.forkChild(one.hold, { startImmediately: true })
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(yield* Fiber.join(late), { held: false, inFlight: 3 })
    }).pipe(Effect.provide(shared))
  )

  it.effect("stay while their process is heard of, and come back when it ends, in order or not", () =>
    Effect.gen(function* () {
      const [one, other, killed] = [yield* process, yield* process, yield* process]
      for (let n = 0; n < 3; n++) assert.isTrue((yield* one.hold).held)
      yield* TestClock.adjust(59_000)
      assert.isFalse((yield* other.hold).held)
      yield* one.end
      for (let n = 0; n < 3; n++) assert.isTrue((yield* killed.hold).held)
      control.isAway = true
      yield* TestClock.adjust(14_000)
      control.isAway = false
      assert.isFalse((yield* other.hold).held)
      control.isAway = true
      yield* TestClock.adjust(1_000)
      control.isAway = false
      assert.isTrue((yield* other.hold).held)
    }).pipe(Effect.provide(shared))
  )

  it.effect("fail as the store does, and go on", () =>
    Effect.gen(function* () {
      const { hold } = yield* process
      control.isAway = true
      assert.strictEqual((yield* Effect.flip(hold))._tag, "StorageUnavailable")
      control.isAway = false
      const permit = yield* hold
      assert.isTrue(permit.held)
      control.isAway = true
      yield* releaseOf(permit)
      yield* TestClock.adjust(5_000)
      control.isAway = false
      yield* TestClock.adjust(2_000)
      const [taken] = yield* Storage.use(({ limits }) =>
        limits.take([
          { rows: [], cost: 0, units: 0, held: { subject: "key", holder: "x", running: 0, wanted: 0, limit: 0 } }
        ])
      )
      assert.strictEqual(taken!.held!.inFlight, 0)
    }).pipe(Effect.provide(shared))
  )

  it.effect("ask no store that one process has for itself", () =>
    Effect.gen(function* () {
      const permits = yield* Permits
      const first = yield* permits.hold("key", 1)
      assert.deepStrictEqual(yield* permits.hold("key", 1), { held: false, inFlight: 1 })
      yield* releaseOf(first)
      assert.isTrue((yield* permits.hold("key", 1)).held)
    }).pipe(Effect.provide(Permits.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
  )
})
