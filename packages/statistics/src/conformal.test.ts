import { assert, describe, it } from "vitest"
import { conformalRank, conformalThreshold, fewestScores } from "./conformal.ts"

describe("a conformal threshold", () => {
  // Angelopoulos and Bates, A Gentle Introduction to Conformal Prediction, 2021, section 1: ceil((n+1)(1-alpha))/n.
  it.each([
    [1_000, 1_000, 901],
    [19, 500, 19],
    [18, 500, null],
    [99, 100, 99],
    [98, 100, null],
    [1, 5_000, 1],
    [0, 5_000, null],
    [9_999, 1, 9_999]
  ])("of %i scores at %i hundredths of a percent is of rank %s", (n, alphaBp, rank) =>
    assert.strictEqual(conformalRank(n, alphaBp), rank)
  )

  it("needs the fewest scores that it states", () => {
    for (const alphaBp of [1, 3, 7, 100, 333, 500, 1_000, 2_500, 4_999, 5_000, 9_999]) {
      assert.isNotNull(conformalRank(fewestScores(alphaBp), alphaBp), String(alphaBp))
      assert.isNull(conformalRank(fewestScores(alphaBp) - 1, alphaBp), String(alphaBp))
    }
  })

  it("is exceeded by at most the stated share of exchangeable scores: each place of each is tried", () => {
    for (const values of [
      [3, 1, 4, 1, 5, 9, 2, 6, 5, 3],
      [1, 1, 1, 1],
      Array.from({ length: 41 }, (_, at) => (at * 17) % 41)
    ])
      for (const alphaBp of [500, 1_000, 2_500, 4_000]) {
        // Of exchangeable scores each is the further one as often as any other.
        const over = values.filter((value, at) => {
          const threshold = conformalThreshold(values.toSpliced(at, 1), alphaBp)
          return threshold !== null && value > threshold
        })
        assert.isAtMost(over.length / values.length, alphaBp / 10_000)
      }
  })
})
