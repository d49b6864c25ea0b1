import { readFileSync } from "node:fs"
import { join } from "node:path"
import { decimalOf, type Share } from "@flyball/statistics"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { compareGroups, fisherOf, type GroupRates, MAX_GROUPS } from "./group-rates.ts"

const folder = join(import.meta.dirname, "../../../../fixtures/statistics/fairness")
/** Published figures. Each has its source in the file. */
const published = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"))
const rows = (file: string): ReadonlyArray<{ readonly [column: string]: string }> => {
  const [head, ...lines] = readFileSync(join(folder, file), "utf8").trim().split(/\r?\n/)
  const names = head!.split(",")
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, at) => [names[at]!, value])))
}
const of = (passed: number, trials: number): Share => ({ passed, trials })
const shareOf = (of: ReadonlyArray<boolean>): Share => ({ passed: of.filter(Boolean).length, trials: of.length })
const comparedWith = (found: GroupRates) => (found.base === null ? assert.fail(found.undefinedReason) : found)

describe("published figures", () => {
  it("Ricci: the captain's exam fails four fifths, and 41 people do not demonstrate it", () => {
    const people = rows("ricci_captain.csv")
    const groups = ["W", "B", "H"].map((race) =>
      shareOf(people.filter((one) => one["Race"] === race).map((one) => Number(one["Combine"]) >= 70))
    )
    assert.deepStrictEqual(
      groups.map(({ passed, trials }) => [passed, trials]),
      ["W", "B", "H"].map((race) => published.ricci.counts[race])
    )
    const found = comparedWith(compareGroups(groups))
    assert.strictEqual(found.groups[1]!.belowFourFifths, published.ricci.four_fifths_violation)
    assert.strictEqual(found.verdict, "insufficient_evidence")
    assert.closeTo(Number(decimalOf(fisherOf(groups[1]!, groups[0]!))), 0.24, 0.005)
  })

  it("COMPAS: false positives of white defendants are demonstrated to be fewer", () => {
    const { African_American: black, Caucasian: white } = published.compas.propublica
    const [one, other] = [of(black.fp, black.fp + black.tn), of(white.fp, white.fp + white.tn)]
    assert.closeTo((100 * one.passed) / one.trials, black.fpr_pct, 5e-3)
    assert.closeTo(
      one.passed / one.trials / (other.passed / other.trials),
      // Theirs is a ratio of percentages that were rounded.
      published.compas.propublica.fpr_ratio_black_white,
      1e-3
    )
    assert.deepStrictEqual(compareGroups([one, other]), {
      base: 0,
      groups: [null, { belowFourFifths: true, verdict: "demonstrated" }],
      verdict: "demonstrated",
      undefinedReason: null
    })
  })

  it("German credit: women's rate is above four fifths of men's, demonstrably", () => {
    const people = rows("german_credit.csv")
    const [female, male] = [true, false].map((wanted) =>
      shareOf(
        people
          .filter((one) => ["A92", "A95"].includes(one["personal_status"]!) === wanted)
          .map((one) => one["credit"] === "1")
      )
    )
    assert.closeTo(
      male!.passed / male!.trials - female!.passed / female!.trials,
      published.german.mean_difference_good_male_minus_female,
      1e-12
    )
    assert.strictEqual(compareGroups([female!, male!]).verdict, "not_demonstrated")
  })

  it("EEOC questions and answers: exactly four fifths is not below", () => {
    const rates = published.eeoc.selection_rates
    const names = ["white", "american_indian", "hispanic", "black"]
    const found = comparedWith(compareGroups(names.map((name) => of(Math.round(rates[name] * 100), 100))))
    for (const [at, name] of names.slice(1).entries())
      assert.strictEqual(found.groups[at + 1]!.belowFourFifths, published.eeoc.adverse_impact[name], name)
  })

  it("NYC Local Law 144: no ratio of the rule's example is below four fifths", () => {
    const groups = published.ll144_selection.rows.map((row: { selected: number; applicants: number }) =>
      of(row.selected, row.applicants)
    )
    const found = comparedWith(compareGroups(groups))
    assert.strictEqual(found.base, 1)
    assert.isTrue(found.groups.every((one) => one === null || !one.belowFourFifths))
  })
})

describe("a comparison of groups", () => {
  it("has no ratio without two groups, and without a positive outcome", () => {
    assert.deepInclude(compareGroups([]), { verdict: null, undefinedReason: "no_groups" })
    assert.deepInclude(compareGroups([of(1, 2)]), { undefinedReason: "one_group" })
    assert.deepInclude(compareGroups([of(0, 2), of(0, 900)]), { undefinedReason: "no_positive_outcomes" })
  })

  it("needs Fisher's test too where a group is small", () => {
    assert.strictEqual(compareGroups([of(0, 5), of(400, 1_000)]).verdict, "insufficient_evidence")
    assert.strictEqual(compareGroups([of(0, 29), of(900, 1_000)]).verdict, "demonstrated")
  })

  const share = fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }))
    .filter(([a, b]) => a + b > 0)
    .map(([passed, failed]) => of(passed, passed + failed))

  it("gives permuted groups permuted answers", () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: 2, maxLength: MAX_GROUPS }), fc.nat(19), (groups, turn) => {
        const turned = groups.map((_, at) => groups[(at + turn) % groups.length]!)
        const [one, other] = [compareGroups(groups), compareGroups(turned)]
        assert.deepStrictEqual([one.verdict, one.undefinedReason], [other.verdict, other.undefinedReason])
        if (one.base === null || other.base === null) return
        // Equal groups may change places as the base: their verdicts are those of any other such group.
        const verdictsOf = (found: typeof one, of: ReadonlyArray<Share>) =>
          found.groups
            .map((verdict, at) => JSON.stringify([of[at]!, verdict]))
            .filter((text) => !text.endsWith("null]"))
            .toSorted()
        assert.deepStrictEqual(verdictsOf(one, groups), verdictsOf(other, turned))
      }),
      { seed: 33, numRuns: 200 }
    )
  })

  it("demonstrates at most 5 % of the time what is not so: every outcome of two groups at four fifths", () => {
    const binomial = (n: number, p: number): ReadonlyArray<number> => {
      const weights = [(1 - p) ** n]
      for (let k = 0; k < n; k++) weights.push((weights[k]! * (n - k) * p) / ((k + 1) * (1 - p)))
      return weights
    }
    for (const [m, n] of [
      [12, 40],
      [40, 12],
      [35, 35],
      [60, 30]
    ] as const)
      for (const p of [0.15, 0.3, 0.5, 0.7, 0.95]) {
        const [low, high] = [binomial(m, 0.8 * p), binomial(n, p)]
        let wrong = 0
        for (let a = 0; a <= m; a++)
          for (let b = 0; b <= n; b++) {
            const found = compareGroups([of(a, m), of(b, n)])
            if (found.base === 1 && found.verdict === "demonstrated") wrong += low[a]! * high[b]!
          }
        assert.isAtMost(wrong, 0.05, `${m} and ${n} at ${p}`)
      }
  })
})
