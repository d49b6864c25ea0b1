import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { generator } from "./generator.ts"
import { type Component, type MaxT, maxT, type RunTest, smallestP } from "./permutation.ts"

const seed = Uint8Array.from({ length: 16 }, (_, at) => at + 1)

const run = (test: RunTest, from = seed): MaxT => {
  const work = maxT(test, generator(from))
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

const dense = (values: ReadonlyArray<number>): Component => ({
  runs: Uint32Array.from(values, (_, at) => at),
  values: Float64Array.from(values)
})
const ones = (n: number): Uint32Array => new Uint32Array(n).fill(1)

const rankOf = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  values.map((value) => values.filter((other) => other < value).length)

interface Published {
  readonly test: string
  readonly inputs: { readonly x: ReadonlyArray<number>; readonly y: ReadonlyArray<number> }
  readonly expected: { readonly pvalue: number }
}
const published = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../fixtures/statistics/two_sample_reference_cases.json"), "utf8")
  ) as ReadonlyArray<Published>
).find(({ test }) => test === "mannwhitneyu_exact_two-sided")!

describe("the permutation test of runs", () => {
  it("gives R's exact p-value of ranks, within the error of its permutations", () => {
    const { x, y } = published.inputs
    const { families } = run({
      sizes: ones(x.length + y.length),
      cut: x.length,
      families: [[dense(rankOf([...x, ...y]))]],
      permutations: 19_999
    })
    assert.closeTo(families[0]!.p!, published.expected.pvalue, 0.01)
    assert.strictEqual(families[0]!.adjusted, families[0]!.p)
  })

  it("gives the same numbers for the same seed, and others for another", () => {
    const test = { sizes: ones(20), cut: 10, families: [[dense(Array.from({ length: 20 }, (_, at) => at % 7))]] }
    const one = run({ ...test, permutations: 99 }).families
    assert.deepStrictEqual(run({ ...test, permutations: 99 }).families, one)
    assert.notDeepEqual(run({ ...test, permutations: 99 }, seed.toReversed()).families, one)
  })

  it("puts a run on the side of its middle, and cuts again in each order", () => {
    const seen: Array<string> = []
    const { isBehind } = run({
      sizes: Uint32Array.of(3, 4, 1),
      cut: 4,
      families: [],
      permutations: 50,
      each: (behind) => seen.push(behind.join(""))
    })
    assert.strictEqual(isBehind.join(""), "011")
    assert.strictEqual(seen[0], "011")
    // Of 8 decisions the run of 3 may lie alone behind the cut, the run of 1 beside it, never both runs of 3 and 4.
    for (const one of seen) assert.match(one, /^(011|101|100|010)$/)
    assert.isAbove(new Set(seen).size, 2)
  })

  it("finds nothing to test where every run is alike, rounding included", () => {
    const { families } = run({
      sizes: ones(9),
      cut: 4,
      families: [[dense(new Array<number>(9).fill(0.1))], []],
      permutations: 99
    })
    for (const one of families) assert.deepStrictEqual(one, { top: null, p: null, adjusted: null })
  })

  it("adjusts by the largest of all families, and never below the p-value", () => {
    const changed = Array.from({ length: 24 }, (_, at) => (at < 12 ? at % 2 : 5 + (at % 3)))
    const noise = (k: number) => Array.from({ length: 24 }, (_, at) => (at * k) % 11)
    const { families } = run({
      sizes: ones(24),
      cut: 12,
      families: [[dense(noise(5))], [dense(changed), dense(noise(3))], [dense(noise(7))]],
      permutations: 999
    })
    assert.deepStrictEqual(families[1]!.top!.component, 0)
    assert.isAtMost(families[1]!.adjusted!, 0.005)
    for (const { adjusted, p } of families) assert.isAtLeast(adjusted!, p!)
  })

  // Under exchangeability P(p <= a) <= a, whatever ties and sizes there are.
  it("is valid at every size: its p-values are not too small", () => {
    const random = generator(seed)
    let small = 0
    const rounds = 400
    for (let round = 0; round < rounds; round++) {
      const sizes = Uint32Array.from({ length: 12 }, () => 1 + random.below(5))
      const cut = Math.floor(sizes.reduce((all, one) => all + one, 0) / 2)
      const values = Array.from(sizes, (size) => (random.below(3) === 0 ? size : 0))
      const from = Uint8Array.from({ length: 16 }, () => random.below(256))
      const { p } = run({ sizes, cut, families: [[dense(values)]], permutations: 99 }, from).families[0]!
      if (p !== null && p <= 0.1) small++
    }
    // 40 expected at most; 59 is three standard deviations above.
    assert.isAtMost(small, 59)
  })

  it("does not depend on how components are labelled", () => {
    const values = fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 10, maxLength: 10 }), {
      minLength: 1,
      maxLength: 4
    })
    fc.assert(
      fc.property(values, (columns) => {
        const test = { sizes: ones(10), cut: 5, permutations: 49 }
        const one = run({ ...test, families: [columns.map(dense)] }).families[0]!
        const other = run({ ...test, families: [columns.toReversed().map(dense)] }).families[0]!
        assert.strictEqual(other.p, one.p)
        assert.strictEqual(other.top?.t, one.top?.t)
      }),
      { seed: 33, numRuns: 50 }
    )
  })
})

describe("the smallest p-value", () => {
  it.each([
    [3, 3, 0.1],
    [4, 4, 2 / 70],
    [5, 5, 2 / 252],
    [1, 1, 1],
    [50, 50, 1 / 1_000]
  ])("of %i and %i runs is known", (n, m, expected) => assert.closeTo(smallestP(n, m, 999), expected, 1e-12))
})
