import { Cause, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { backgroundLog } from "./background-log.ts"
import type { LogLine } from "./log-line.ts"

describe("what is logged in the background", () => {
  it("is a sentence with its cause, and standard output is left to the host", async () => {
    const lines: Array<Parameters<LogLine>[0]> = []
    const printed: Array<unknown> = []
    const print = console.log
    console.log = (...words) => void printed.push(words)
    try {
      await Effect.runPromise(
        Effect.all([
          Effect.logError("no checkpoint", Cause.die(new Error("key gone"))),
          Effect.logInfo("one", "two")
        ]).pipe(Effect.provide(backgroundLog((line) => lines.push(line))))
      )
    } finally {
      console.log = print
    }
    assert.deepStrictEqual(printed, [])
    assert.deepStrictEqual(
      lines.map(({ level, message }) => [level, message]),
      [
        ["error", "no checkpoint"],
        ["info", "one two"]
      ]
    )
    assert.match(lines[0]!.cause!, /key gone/)
    assert.isNull(lines[1]!.cause)
  })
})
