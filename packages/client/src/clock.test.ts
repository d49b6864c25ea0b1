import { assert, describe, it } from "vitest"
import { type ClientClock, neverBack, pause, systemClock } from "./clock.ts"

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

describe("a clock that never steps back", () => {
  it("stands still where its source is set back, and continues from there", () => {
    const source = [1_000, 1_500, 200, 300, 200, 250, 5_000]
    const clock = neverBack(() => source.shift()!)
    assert.deepStrictEqual(
      Array.from({ length: 7 }, () => clock()),
      [1_000, 1_500, 1_500, 1_600, 1_600, 1_650, 6_400]
    )
  })
})
