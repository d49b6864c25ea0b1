import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { jensenShannon, stabilityIndex } from "./distances.ts"
import { generator } from "./generator.ts"

interface Published {
  readonly test: string
  readonly inputs: {
    readonly reference_counts: { readonly [category: string]: number }
    readonly current_counts: { readonly [category: string]: number }
  }
  readonly expected: { readonly distance: number }
}
const published = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../fixtures/statistics/two_sample_reference_cases.json"), "utf8")
  ) as ReadonlyArray<Published>
).find(({ test }) => test === "jensen_shannon_distance_base2")!

describe("the Jensen-Shannon distance", () => {
  it("is NannyML's published one", () =>
    assert.closeTo(
      jensenShannon(Object.values(published.inputs.reference_counts), Object.values(published.inputs.current_counts)),
      published.expected.distance,
      0.005
    ))

  it("is 0 of equal shares and 1 of nothing in common", () => {
    assert.strictEqual(jensenShannon([1, 2], [2, 4]), 0)
    assert.strictEqual(jensenShannon([1, 0], [0, 9]), 1)
  })
})

describe("the population stability index", () => {
  it("adds half an observation to each cell", () =>
    assert.closeTo(stabilityIndex([3, 0], [0, 3]), 2 * (0.875 - 0.125) * Math.log(7), 1e-12))

  // Yurdakul 2018: between two samples of n of one distribution over B categories the mean is (B - 1) 2/n.
  it("has the published mean between samples of one distribution", () => {
    const { below } = generator(Uint8Array.from({ length: 16 }, (_, at) => 3 * at + 1))
    const sample = (): ReadonlyArray<number> => {
      const counts = new Array<number>(12).fill(0)
      for (let n = 0; n < 400; n++) counts[below(12)]! += 1
      return counts
    }
    let total = 0
    for (let round = 0; round < 300; round++) total += stabilityIndex(sample(), sample())
    assert.closeTo(total / 300, (11 * 2) / 400, 0.005)
  })
})
