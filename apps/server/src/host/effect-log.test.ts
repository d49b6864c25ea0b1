import { Cause, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { effectLog } from "./effect-log.ts"

describe("what the library logs", () => {
  it("goes to the log of the process, with its level and cause", async () => {
    const lines: Array<readonly [string, string, unknown]> = []
    const layer = effectLog((level, message, members) => void lines.push([level, message, members?.["cause"]]))
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* Effect.logInfo("a", "b")
        yield* Effect.logWarning("careful")
        yield* Effect.logError("it failed", Cause.fail(new Error("the disk is full")))
      }).pipe(Effect.provide(layer))
    )
    assert.deepEqual(lines.slice(0, 2), [
      ["info", "a b", undefined],
      ["warn", "careful", undefined]
    ])
    assert.deepEqual(lines[2]?.slice(0, 2), ["error", "it failed"])
    assert.include(String(lines[2]?.[2]), "the disk is full")
  })
})
