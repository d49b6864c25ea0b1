import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type Cluster, clusteredShare, passPower, wilson } from "./intervals.ts"

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
