import { assert, describe, it } from "vitest"
import { gapsAsLarge, largestGap, meanGapsAsLarge } from "./gaps.ts"
import { type Generator32, generator } from "./generator.ts"
import { hypergeometric, logFactorials } from "./hypergeometric.ts"
import { shapley } from "./shapley.ts"

const seed = (of: number): Generator32 => generator(Uint8Array.from({ length: 16 }, (_, at) => at * of + 1))
const done = <A>(work: Generator<void, A, void>): A => {
  for (;;) {
    const { done: isDone, value } = work.next()
    if (isDone === true) return value
  }
}

describe("random tables", () => {
  it("have the hypergeometric distribution, in small and in large", () => {
    const logs = done(logFactorials(100_000))
    const random = seed(3)
    const counts = [0, 0, 0, 0]
    for (let at = 0; at < 20_000; at++) counts[hypergeometric(random, { marked: 3, all: 10, drawn: 4 }, logs)]!++
    // C(3, x) C(7, 4 - x) / C(10, 4), of 210.
    for (const [x, ways] of [35, 105, 63, 7].entries()) assert.closeTo(counts[x]! / 20_000, ways / 210, 0.01)
    let [sum, square] = [0, 0]
    for (let at = 0; at < 4_000; at++) {
      const drawn = hypergeometric(random, { marked: 40_000, all: 100_000, drawn: 30_000 }, logs) - 12_000
      sum += drawn
      square += drawn * drawn
    }
    assert.closeTo(sum / 4_000, 0, 5)
    assert.closeTo(Math.sqrt(square / 4_000), Math.sqrt(30_000 * 0.4 * 0.6 * (70_000 / 99_999)), 3)
    assert.strictEqual(logs.of(5).toFixed(12), Math.log(120).toFixed(12))
  })

  it("give Fisher's p-value for two groups, and one where nothing differs", () => {
    // The captain's exam of Ricci v. DeStefano: 16 of 25 against 3 of 8; p of R's fisher.test is 0.2388.
    const ricci = [
      [
        { passed: 16, trials: 25 },
        { passed: 3, trials: 8 }
      ]
    ]
    assert.deepInclude(largestGap(ricci), { value: 0.64 - 0.375, high: 0, low: 1 })
    assert.closeTo(done(gapsAsLarge(ricci, 9_999, seed(5), done(logFactorials(33)))) / 9_999, 0.2388, 0.015)
    const equal = [
      [
        { passed: 5, trials: 5 },
        { passed: 9, trials: 9 },
        { passed: 0, trials: 0 }
      ]
    ]
    assert.strictEqual(done(gapsAsLarge(equal, 99, seed(5), done(logFactorials(14)))), 99)
    assert.isNull(
      largestGap([
        [
          { passed: 0, trials: 0 },
          { passed: 1, trials: 2 }
        ]
      ])
    )
  })
})

it("shuffles give columns the counts that each has alone, whatever they share a table with", () => {
  const values = Uint32Array.from({ length: 60 }, (_, row) => (row * 7919) % 1_000)
  const column = (groups: number, of: (row: number) => number) => {
    const codes = Uint8Array.from(values, (_, row) => of(row))
    return { codes, sizes: Array.from({ length: groups }, (_, g) => codes.filter((code) => code === g + 1).length) }
  }
  const columns = [
    column(2, (row) => 1 + (row % 2)),
    column(20, (row) => row % 21),
    column(20, (row) => (row * 3) % 21),
    column(2, (row) => (values[row]! > 800 ? 1 : 2))
  ]
  const together = done(meanGapsAsLarge(values.slice(), columns, 199, seed(7)))
  const alone = columns.map((one) => done(meanGapsAsLarge(values.slice(), [one], 199, seed(7)))[0]!)
  assert.deepStrictEqual(together, alone)
  assert.strictEqual(together[3], 0)
  assert.isAbove(together[0]!, 10)
})

describe("Shapley values", () => {
  const weights = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
  const worth = (players: number) => (coalition: number) => {
    let sum = 0
    for (let one = 0; one < players; one++) if ((coalition & (1 << one)) !== 0) sum += weights[one]!
    // Players 0 and 1 are worth 2 more together.
    return sum + ((coalition & 3) === 3 ? 2 : 0)
  }
  it("are exact up to eight players, and a mean with its error above", () => {
    const exact = done(shapley(3, worth(3), 10, () => seed(1)))
    assert.deepStrictEqual(
      exact.map(({ error, value }) => [Math.round(value * 1e9) / 1e9, error]),
      [
        [4, 0],
        [2, 0],
        [4, 0]
      ]
    )
    const sampled = done(shapley(10, worth(10), 200, () => seed(1)))
    for (const [one, { error, value }] of sampled.entries())
      assert.isAtMost(Math.abs(value - weights[one]! - (one < 2 ? 1 : 0)), 2 * error + 1e-9)
    assert.closeTo(
      sampled.reduce((sum, { value }) => sum + value, 0),
      41,
      1e-9
    )
  })
})
