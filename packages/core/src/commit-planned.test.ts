import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commitPlanned, MAX_ATTEMPTS } from "./commit-planned.ts"
import { StorageConflict, StorageUnavailable } from "./storage/faults.ts"

const conflict = new StorageConflict({ conflicts: [{ _tag: "Empty" }] })

/** An attempt that meets a conflict `times` times, then gives its number. */
const conflicting = (times: number) => {
  let attempts = 0
  return Effect.suspend(() => (++attempts > times ? Effect.succeed(attempts) : Effect.fail(conflict)))
}

describe("read, plan, commit", () => {
  it.effect("plans again after a conflict", () => Effect.gen(function*() {
    assert.strictEqual(yield* commitPlanned(conflicting(0)), 1)
    assert.strictEqual(yield* commitPlanned(conflicting(MAX_ATTEMPTS - 1)), MAX_ATTEMPTS)
  }))

  it.effect("gives up after a bounded number of conflicts, and says that nothing was written", () => Effect.gen(function*() {
    const error = yield* Effect.flip(commitPlanned(conflicting(MAX_ATTEMPTS)))
    assert.instanceOf(error, StorageUnavailable)
    assert.strictEqual(error.wrote, "no")
  }))

  it.effect("does not try again after any other failure", () => Effect.gen(function*() {
    let attempts = 0
    const failing = Effect.suspend(() => {
      attempts += 1
      return Effect.fail("refused" as const)
    })
    assert.strictEqual(yield* Effect.flip(commitPlanned(failing)), "refused")
    assert.strictEqual(attempts, 1)
  }))
})
