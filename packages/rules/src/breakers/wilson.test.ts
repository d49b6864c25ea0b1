import { assert, describe, it } from "vitest"
import { confidenceLevels, isAtOrAbove, zMillionths } from "./wilson.ts"

/** The lower bound by its textbook formula, in floating point. */
const lowerBound = (part: number, whole: number, z: number): number => {
  const p = part / whole
  const middle = p + (z * z) / (2 * whole)
  const half = z * Math.sqrt((p * (1 - p)) / whole + (z * z) / (4 * whole * whole))
  return (middle - half) / (1 + (z * z) / whole)
}

describe("a share against a threshold", () => {
  it("is compared exactly, threshold included, when no confidence is given", () => {
    assert.isTrue(isAtOrAbove(5, 10, 5_000, 0))
    assert.isFalse(isAtOrAbove(4_999, 10_000, 5_000, 0))
    assert.isFalse(isAtOrAbove(0, 0, 1, 0))
    assert.isTrue(isAtOrAbove(1, 3, 3_333, 0))
    assert.isFalse(isAtOrAbove(1, 3, 3_334, 0))
  })

  it("agrees with the Wilson formula for every count up to 60, every confidence and many thresholds", () => {
    for (const confidence of confidenceLevels.slice(1)) {
      const z = Number(zMillionths[confidence]) / 1e6
      for (let whole = 1; whole <= 60; whole++)
        for (let part = 0; part <= whole; part++)
          for (const threshold of [1, 7, 500, 2_000, 3_333, 5_000, 8_750, 9_999]) {
            const bound = lowerBound(part, whole, z)
            // Within an ulp of the threshold floating point decides nothing.
            if (Math.abs(bound - threshold / 10_000) < 1e-9) continue
            assert.strictEqual(
              isAtOrAbove(part, whole, threshold, confidence),
              bound >= threshold / 10_000,
              `${part}/${whole} at ${threshold} with ${confidence}`
            )
          }
    }
  })

  it("does not reach one half with two failures of three at any confidence", () => {
    assert.isTrue(isAtOrAbove(2, 3, 5_000, 0))
    for (const confidence of [9_000, 9_500, 9_900]) assert.isFalse(isAtOrAbove(2, 3, 5_000, confidence))
    assert.isTrue(isAtOrAbove(80, 120, 5_000, 9_900))
  })

  it("stays exact where products pass 2^53", () => {
    const whole = 1_000_000_000
    assert.isTrue(isAtOrAbove(whole / 2, whole, 5_000, 0))
    assert.isFalse(isAtOrAbove(whole / 2 - 1, whole, 5_000, 0))
    assert.isFalse(isAtOrAbove(whole / 2, whole, 5_000, 9_000))
  })
})
