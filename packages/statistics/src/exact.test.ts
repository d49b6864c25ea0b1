import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { choose, decimalOf, fisherTest, isAtMost, type Probability, signTest } from "./exact.ts"

interface Published {
  readonly id: string
  readonly test: string
  readonly inputs: { readonly table: readonly [readonly [number, number], readonly [number, number]] }
  readonly expected: { readonly pvalue: number }
}
const published = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../fixtures/statistics/two_sample_reference_cases.json"), "utf8")
  ) as ReadonlyArray<Published>
).filter(({ test }) => test === "fisher_exact_two_sided")

const valueOf = (p: Probability): number => Number(decimalOf(p))

describe("Fisher's test", () => {
  it("has the published cases", () => assert.isAtLeast(published.length, 7))

  it.each(published)("gives the published p-value of $id", ({ expected, inputs }) =>
    assert.closeTo(valueOf(fisherTest(inputs.table)) / expected.pvalue, 1, 1e-5)
  )
})

describe("the sign test", () => {
  it.each([
    [0, 0, "1"],
    [1, 0, "1"],
    [4, 0, "0.125"],
    [0, 12, "0.000488281"],
    [8, 2, "0.109375"],
    [6, 6, "1"]
  ] as const)("of %i wins and %i losses is %s", (wins, losses, expected) => {
    assert.strictEqual(decimalOf(signTest(wins, losses)), expected)
    assert.strictEqual(decimalOf(signTest(losses, wins)), expected)
  })

  // McNemar 1947, table 1 in the exact form: 121 and 59 discordant pairs.
  it("agrees with the binomial distribution for many pairs", () =>
    assert.closeTo(valueOf(signTest(121, 59)) / 4.434444e-6, 1, 1e-5))

  it("is compared without rounding", () => {
    // 6 of 6 is 1/32, above 3.1 % and below 3.2 %.
    assert.isTrue(isAtMost(signTest(6, 0), 1n, 32n))
    assert.isFalse(isAtMost(signTest(6, 0), 31_249_999n, 1_000_000_000n))
  })
})

describe("the number of choices", () => {
  it("is exact where doubles are not", () => {
    assert.strictEqual(choose(100, 50), 100891344545564193334812497256n)
    assert.strictEqual(choose(5, 6), 0n)
    assert.strictEqual(choose(5, -1), 0n)
    assert.strictEqual(choose(0, 0), 1n)
  })
})
