import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commitWithRetry, MAX_ATTEMPTS } from "./commit-with-retry.ts"
import { StorageConflict, StorageUnavailable } from "./faults.ts"
import type { StorageApi } from "./port.ts"

/** Attempts of these tests read what they close over. */
const storage = {} as StorageApi

const conflict = new StorageConflict({ conflicts: [{ _tag: "Empty" }] })

/** An attempt that meets a conflict `times` times, then gives its number. */
const conflicting = (times: number) => {
  let attempts = 0
  return Effect.suspend(() => (++attempts > times ? Effect.succeed(attempts) : Effect.fail(conflict)))
}

let documents = 0
/** A document that is read, and put a few turns later. */
const document = () => {
  const name = { collection: "agents", id: `agt_${++documents}` }
  let version = 0
  let planned = 0
  const change = Effect.gen(function* () {
    const expected = version
    planned++
    for (let turn = 0; turn < 3; turn++) yield* Effect.yieldNow
    if (version !== expected)
      return yield* new StorageConflict({ conflicts: [{ _tag: "Version", ...name, expected, found: version }] })
    version++
  })
  return { name, change, version: () => version, planned: () => planned }
}

describe("read, plan, commit", () => {
  it.effect("plans again after a conflict", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* commitWithRetry(storage, conflicting(0)), 1)
      assert.strictEqual(yield* commitWithRetry(storage, conflicting(MAX_ATTEMPTS - 1)), MAX_ATTEMPTS)
    })
  )

  it.effect("gives up after a bounded number of conflicts, and says that nothing was written", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(commitWithRetry(storage, conflicting(MAX_ATTEMPTS)))
      assert.instanceOf(error, StorageUnavailable)
      assert.strictEqual(error.wrote, "no")
    })
  )

  it.effect("does not try again after any other failure", () =>
    Effect.gen(function* () {
      let attempts = 0
      const failing = Effect.suspend(() => {
        attempts += 1
        return Effect.fail("refused" as const)
      })
      assert.strictEqual(yield* Effect.flip(commitWithRetry(storage, failing)), "refused")
      assert.strictEqual(attempts, 1)
    })
  )

  it.effect("keeps those apart that say what they change", () =>
    Effect.gen(function* () {
      const shared = document()
      yield* Effect.all(
        Array.from({ length: 3 * MAX_ATTEMPTS }, () => commitWithRetry(storage, shared.change, shared.name)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        { version: shared.version(), planned: shared.planned() },
        { version: 3 * MAX_ATTEMPTS, planned: 3 * MAX_ATTEMPTS }
      )
    })
  )

  it.effect("has those that did not name a document take its lock once they have lost often", () =>
    Effect.gen(function* () {
      const shared = document()
      yield* Effect.all(
        Array.from({ length: 3 * MAX_ATTEMPTS }, () => commitWithRetry(storage, shared.change)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(shared.version(), 3 * MAX_ATTEMPTS)
    })
  )

  it.effect("never waits for a caller that waits for it", () =>
    Effect.gen(function* () {
      const [one, other] = [document(), document()]
      const both = Effect.andThen(one.change, other.change)
      yield* Effect.all(
        [
          ...Array.from({ length: 20 }, () => commitWithRetry(storage, both, one.name)),
          ...Array.from({ length: 20 }, () => commitWithRetry(storage, both, other.name))
        ],
        { concurrency: "unbounded" }
      )
      assert.isAtLeast(Math.min(one.version(), other.version()), 40)
    })
  )

  it.effect("lets an act through that loses over another document than it names, however many wait for that", () =>
    Effect.gen(function* () {
      const [named, busy] = [document(), document()]
      const slow = Effect.gen(function* () {
        const expected = busy.version()
        for (let turn = 0; turn < 6; turn++) yield* Effect.yieldNow
        const found = busy.version()
        if (found !== expected)
          return yield* new StorageConflict({ conflicts: [{ _tag: "Version", ...busy.name, expected, found }] })
      })
      yield* Effect.all(
        [
          commitWithRetry(storage, slow, named.name),
          ...Array.from({ length: 4 * MAX_ATTEMPTS }, () => commitWithRetry(storage, busy.change, busy.name))
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(busy.version(), 4 * MAX_ATTEMPTS)
    })
  )

  it.effect("gives up under a lock as well, where another process is always faster", () =>
    Effect.gen(function* () {
      const shared = document()
      const overtaken = Effect.fail(
        new StorageConflict({ conflicts: [{ _tag: "Version", ...shared.name, expected: 1, found: 2 }] })
      )
      assert.include(yield* Effect.flip(commitWithRetry(storage, overtaken, shared.name)), {
        contended: true,
        wrote: "no"
      })
      yield* commitWithRetry(storage, shared.change, shared.name)
    })
  )
})
