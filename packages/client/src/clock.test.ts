import { assert, describe, it } from "vitest"
import { type ClientClock, pause, systemClock } from "./clock.ts"

describe("a pause", () => {
  it("of a time that is over sets no negative timer, of which Node would warn", async () => {
    const timers: Array<number> = []
    const after: ClientClock["after"] = (ms, call) => {
      timers.push(ms)
      queueMicrotask(call)
      return () => undefined
    }
    await pause({ ...systemClock, after }, -0.02)
    assert.deepStrictEqual(timers, [0])
  })
})
