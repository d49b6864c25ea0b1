import { assert, describe, it } from "@effect/vitest"
import { layerOf, memoryStorage, Storage, StorageConflict, StorageUnavailable } from "@flyball/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SLOW_MS, TRY_MS, watchedStorage, WriteHealth } from "./write-health.ts"

const full = new StorageUnavailable({ reason: "the disk is full", wrote: "no" })

/** A store whose writes fail with what `fault` says. */
const world = (fault: {
  of: StorageUnavailable | StorageConflict | null
  tries: number
  /** The end that a commit which begins now waits for. */
  until?: Effect.Effect<void>
}) =>
  watchedStorage.pipe(
    Layer.provideMerge(
      Layer.effect(
        Storage,
        Effect.map(Storage, (storage) => {
          const failing = <A, E>(write: Effect.Effect<A, E>) =>
            Effect.suspend((): Effect.Effect<A, E | StorageUnavailable | StorageConflict> =>
              fault.of === null ? write : Effect.fail(fault.of)
            )
          return Storage.of({
            ...storage,
            commit: (change) =>
              Effect.suspend(() => Effect.andThen(fault.until ?? Effect.void, failing(storage.commit(change)))),
            lease: (...args) =>
              Effect.suspend(() => {
                fault.tries += 1
                return fault.of instanceof StorageUnavailable ? Effect.fail(fault.of) : storage.lease(...args)
              })
          })
        })
      )
    ),
    Layer.provide(layerOf(memoryStorage()))
  )

const put = (id: string) =>
  Storage.use((storage) => storage.commit({ puts: [{ collection: "notes", id, expectedVersion: 0, body: {} }] }))
const writes = Effect.map(WriteHealth, (health) => health!.writes())

describe("what is known of writes", () => {
  it.effect("is good until a commit fails for want of the store, and again with the next that succeeds", () => {
    const fault = { of: null as StorageUnavailable | null, tries: 0 }
    return Effect.gen(function* () {
      assert.isTrue(yield* writes)
      yield* put("a")
      fault.of = full
      assert.strictEqual(yield* Effect.flip(put("b")), full)
      assert.isFalse(yield* writes)
      fault.of = null
      yield* put("b")
      assert.isTrue(yield* writes)
      assert.strictEqual(fault.tries, 0)
    }).pipe(Effect.provide(world(fault)))
  })

  it.effect("is bad while a commit takes longer than ten seconds, whatever others do", () => {
    const fault = { of: null as StorageUnavailable | null, tries: 0, until: Effect.void as Effect.Effect<void> }
    return Effect.gen(function* () {
      const given = yield* Deferred.make<void>()
      fault.until = Deferred.await(given)
      const held = yield* Effect.forkChild(put("a"), { startImmediately: true })
      fault.until = Effect.void
      yield* TestClock.adjust(SLOW_MS)
      assert.isTrue(yield* writes)
      yield* TestClock.adjust(1)
      yield* put("b")
      assert.isFalse(yield* writes)
      yield* Deferred.succeed(given, undefined)
      yield* Fiber.join(held)
      assert.isTrue(yield* writes)
    }).pipe(Effect.provide(world(fault)))
  })

  it.effect("recovers by itself when nobody writes: it tries every five seconds, only while it does not work", () => {
    const fault = { of: null as StorageUnavailable | null, tries: 0 }
    return Effect.gen(function* () {
      yield* TestClock.adjust(10 * TRY_MS)
      assert.strictEqual(fault.tries, 0)
      fault.of = full
      yield* Effect.flip(put("a"))
      yield* TestClock.adjust(3 * TRY_MS)
      assert.deepStrictEqual([fault.tries, yield* writes], [3, false])
      fault.of = null
      yield* TestClock.adjust(TRY_MS)
      assert.deepStrictEqual([fault.tries, yield* writes], [4, true])
      yield* TestClock.adjust(10 * TRY_MS)
      assert.strictEqual(fault.tries, 4)
      // And once more, with the same watch.
      fault.of = full
      yield* Effect.flip(put("a"))
      yield* TestClock.adjust(TRY_MS)
      assert.deepStrictEqual([fault.tries, yield* writes], [5, false])
    }).pipe(Effect.provide(world(fault)))
  })

  it.effect("does not change for a conflict, which says that the store answers and nothing of writing", () => {
    const fault = { of: new StorageConflict({ conflicts: [] }), tries: 0 }
    return Effect.gen(function* () {
      yield* Effect.flip(put("a"))
      assert.isTrue(yield* writes)
    }).pipe(Effect.provide(world(fault)))
  })
})
