import { assert, describe, it } from "vitest"
import { steadyNanos } from "./steady-nanos.ts"

describe("the time of spans", () => {
  it("goes with the process's clock between the milliseconds of the day, and with the day when that steps", () => {
    let [day, steady] = [1_795_230_000_000, 100]
    const now = steadyNanos(
      () => day,
      () => steady
    )
    const at = (dayMs: number, steadyMs: number): bigint => {
      ;[day, steady] = [dayMs, steadyMs]
      return now()
    }
    assert.strictEqual(at(1_795_230_000_000, 100.25), 1_795_230_000_000_250_000n)
    assert.strictEqual(at(1_795_230_000_001, 101.5), 1_795_230_000_001_500_000n)
    assert.strictEqual(at(1_795_229_000_000, 102), 1_795_229_000_000_000_000n)
    assert.strictEqual(at(1_795_229_000_000, 102.5), 1_795_229_000_000_500_000n)
  })
})
