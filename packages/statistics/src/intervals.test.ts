import fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  clopperPearson,
  type Cluster,
  clusteredShare,
  isBelowFourFifths,
  passPower,
  ratioScore,
  shareDifference,
  shareRatio,
  wilson,
  Z95
} from "./intervals.ts"

describe("Wilson's interval", () => {
  // Newcombe 1998, Statistics in Medicine 17, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718]
  ])("of %i of %i is the published one", (passed, trials, low, high) => {
    const interval = wilson(passed / trials, trials)
    assert.closeTo(interval.low, low, 5e-5)
    assert.closeTo(interval.high, high, 5e-5)
  })
})

const cluster: fc.Arbitrary<Cluster> = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([passed, more]) => ({ passed, trials: passed + more }))

describe("a share over clusters", () => {
  it("counts repeats that agree as one", () => {
    const repeated = Array.from({ length: 10 }, (_, at) => ({ passed: at < 8 ? 12 : 0, trials: 12 }))
    const once = repeated.map(({ passed }) => ({ passed: passed / 12, trials: 1 }))
    const [many, few] = [clusteredShare(repeated)!, clusteredShare(once)!]
    assert.strictEqual(many.share, 0.8)
    assert.closeTo(many.low, few.low, 1e-12)
    assert.closeTo(many.high, few.high, 1e-12)
  })

  it("is null without a trial, and never certain", () => {
    assert.isNull(clusteredShare([]))
    assert.isNull(clusteredShare([{ passed: 0, trials: 0 }]))
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 20 }), (clusters) => {
        const found = clusteredShare(clusters)
        if (found === null) return
        assert.isAtMost(found.low, found.share + 1e-12)
        assert.isAtLeast(found.high, found.share - 1e-12)
        assert.isAbove(found.high - found.low, 0.01)
      }),
      { seed: 31 }
    )
  })
})

describe("pass^k", () => {
  it("is the chance that k repeats all pass", () => {
    assert.strictEqual(passPower([{ passed: 3, trials: 4 }], 1), 0.75)
    assert.strictEqual(passPower([{ passed: 3, trials: 4 }], 2), 0.5)
    assert.strictEqual(passPower([{ passed: 3, trials: 4 }], 4), 0)
    assert.isNull(passPower([{ passed: 3, trials: 4 }], 5))
    assert.strictEqual(
      passPower(
        [
          { passed: 4, trials: 4 },
          { passed: 0, trials: 4 }
        ],
        3
      ),
      0.5
    )
  })
})

const of = (passed: number, trials: number) => ({ passed, trials })

describe("Clopper and Pearson's interval", () => {
  // Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 5.
  it.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
    [29, 29, 0.8806, 1]
  ])("of %i of %i is the published one", (passed, trials, low, high) => {
    const interval = clopperPearson(passed, trials)
    assert.closeTo(interval.low, low, 5e-5)
    assert.closeTo(interval.high, high, 5e-5)
  })

  it("stays within 0 to 1 and around the share, also for many trials", () => {
    for (const [passed, trials] of [
      [0, 20_000],
      [1, 20_000],
      [10_000, 20_000],
      [20_000, 20_000],
      [0, 1],
      [1, 1]
    ] as const) {
      const { high, low } = clopperPearson(passed, trials)
      assert.isTrue(0 <= low && low <= passed / trials && passed / trials <= high && high <= 1, `${passed}/${trials}`)
    }
  })
})

describe("the difference of two shares", () => {
  // Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1]
  ])("%i/%i - %i/%i has the published interval", (a, m, b, n, low, high) => {
    const interval = shareDifference(of(a, m), of(b, n))
    assert.closeTo(interval.low, low, 5e-5)
    assert.closeTo(interval.high, high, 5e-5)
  })
})

describe("the ratio of two shares", () => {
  // Koopman 1984, section 3: 36 of 40 against 16 of 80.
  it("has the published interval", () => {
    const interval = shareRatio(of(36, 40), of(16, 80))!
    assert.closeTo(interval.low, 2.94, 5e-3)
    assert.closeTo(interval.high!, 7.15, 5e-3)
  })

  it("is open or begins at 0 where a share is 0, and is null where both are", () => {
    assert.isNull(shareRatio(of(0, 9), of(0, 7)))
    assert.strictEqual(shareRatio(of(0, 9), of(5, 7))!.low, 0)
    assert.isNull(shareRatio(of(5, 9), of(0, 7))!.high)
    const same = shareRatio(of(7, 7), of(7, 7))!
    assert.isTrue(same.low < 1 && same.high! > 1)
  })

  it("contains exactly the ratios that the score does not reject", () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 })),
        fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 })),
        fc.double({ min: 0.05, max: 8, noNaN: true }),
        ([a, more], [b, others], ratio) => {
          if (a + more === 0) return
          const [first, second] = [of(a, a + more), of(b, b + others)]
          const { high, low } = shareRatio(first, second)!
          if (Math.abs(ratio - low) < 1e-9 || Math.abs(ratio - high!) < 1e-9) return
          assert.strictEqual(Math.abs(ratioScore(first, second, ratio)) < Z95, low < ratio && ratio < high!)
        }
      ),
      { seed: 33 }
    )
  })
})

describe("four fifths", () => {
  // EEOC Questions and Answers, 1979: rates 45, 48 and 51 % against 60 %. 48 % is exactly four fifths.
  it.each([
    [45, 100, 60, 100, true],
    [48, 100, 60, 100, false],
    [51, 100, 60, 100, false],
    // 0.32/0.40 and 0.64/0.80 are below 0.8 in floating point.
    [32, 100, 40, 100, false],
    [64, 100, 80, 100, false],
    [0, 5, 0, 9, false]
  ])("%i/%i against %i/%i: %s", (a, m, b, n, expected) =>
    assert.strictEqual(isBelowFourFifths(of(a, m), of(b, n)), expected)
  )
})
