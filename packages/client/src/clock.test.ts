import { assert, describe, it } from "vitest"
import { type ClientClock, neverBack, pause, systemClock, withSleep } from "./clock.ts"

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

describe("a clock that counts sleep", () => {
  it("counts the time of day where its source stood still, and no small difference of the two", () => {
    const readings = [
      // Source, time of day, what the clock shows.
      [1_000, 50_000, 1_000],
      [2_000, 51_400, 2_000],
      [2_010, 3_651_410, 3_602_410],
      [3_010, 3_652_410, 3_603_410],
      // Set back by an hour, and forward again: that may have been sleep.
      [4_010, 53_410, 3_604_410],
      [5_010, 3_654_410, 7_205_410]
    ] as const
    let at = 0
    const clock = withSleep(
      () => readings[at]![0],
      () => readings[at]![1]
    )
    assert.deepStrictEqual(
      readings.map((_, index) => {
        at = index
        return clock()
      }),
      readings.map(([, , shown]) => shown)
    )
  })
})
