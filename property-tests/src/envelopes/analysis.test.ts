/**
 * Exact analysis against the definition, every point of the domain listed. 25 envelopes and pairs in `npm test`, 150 in
 * `npm run test:long`; `FLYBALL_ANALYSIS_RUNS=1000` asks for a thousand.
 */
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { diff } from "../../../packages/envelope/src/analysis/diff/diff.ts"
import { lint } from "../../../packages/envelope/src/analysis/lint/lint.ts"
import type { LintFinding } from "../../../packages/envelope/src/analysis/lint/lint-report.ts"
import { commonAxes } from "../../../packages/envelope/src/analysis/cells/common-axes.ts"
import { verdictAt } from "../../../packages/envelope/src/analysis/cells/verdict-at.ts"
import { type Compiled, outcomes } from "../../../packages/envelope/src/language/compiled.ts"
import { runTable, severityOf, tableOf } from "../../../packages/envelope/src/compile/table.ts"
import {
  bruteInputs,
  brutePoint,
  type BrutePoint,
  bruteVerdict,
  everyPoint,
  gravity,
  ruleHolds
} from "./analysis-brute.ts"
import { anEnvelope, twoEnvelopes } from "./analysis-envelopes.ts"
import { runs } from "../runs.ts"

const numRuns = Number(process.env["FLYBALL_ANALYSIS_RUNS"] ?? runs(25, 150))

const found = (findings: ReadonlyArray<LintFinding>, code: string): ReadonlyArray<string> =>
  findings
    .filter((one) => one.code === code)
    .map(({ rules }) => rules[0]!)
    .sort()

interface Truth {
  readonly points: ReadonlyArray<BrutePoint>
  readonly dead: ReadonlyArray<string>
  readonly empty: ReadonlyArray<string>
  readonly redundant: ReadonlyArray<string>
  readonly uncovered: ReadonlyArray<BrutePoint>
}

const truthOf = (compiled: Compiled): Truth => {
  const points = everyPoint(compiled.axes)
  const own = compiled.otherwise.length - 1
  const verdicts = points.map((point) => bruteVerdict(compiled, point))
  const mine = compiled.rules.flatMap((rule, index) => (rule.layer === own ? [index] : []))
  const empty = mine.filter((rule) => compiled.rules[rule]!.boxes.length === 0)
  const alive = mine.filter((rule) => !empty.includes(rule))
  const needless = alive.filter((rule) =>
    points.every((point, at) => bruteVerdict(compiled, point, rule).outcome === verdicts[at]!.outcome)
  )
  const dead = needless.filter((rule) => verdicts.every((verdict) => verdict.rule !== rule))
  const redundant = needless.filter((rule) => !dead.includes(rule))
  const ids = (rules: ReadonlyArray<number>): ReadonlyArray<string> =>
    rules.map((rule) => compiled.rules[rule]!.id).sort()
  return {
    points,
    dead: ids(dead),
    empty: ids(empty),
    redundant: ids(redundant),
    uncovered: points.filter((_, at) => verdicts[at]!.silent === own)
  }
}

/** Pairs of neighbouring tiers at which more trust means less leave, by what decides at the upper one. */
const tierFaults = (compiled: Compiled): ReadonlySet<string> => {
  const tier = compiled.axes.findIndex(({ name }) => name === "tier")
  const faults = new Set<string>()
  if (tier === -1) return faults
  for (const point of everyPoint(compiled.axes)) {
    if (point[tier] === compiled.axes[tier]!.max) continue
    const above = bruteVerdict(compiled, point.with(tier, point[tier]! + 1))
    if (gravity(above.outcome) > gravity(bruteVerdict(compiled, point).outcome))
      faults.add(above.rule === null ? "default" : compiled.rules[above.rule]!.id)
  }
  return faults
}

describe("three implementations of one definition", () => {
  it("agree at every point: this file's, the analyzer's and the evaluator's", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anEnvelope, (compiled) => {
        const table = tableOf(compiled)
        for (const point of everyPoint(compiled.axes)) {
          const naive = bruteVerdict(compiled, point)
          const ours = verdictAt(compiled, point)
          const verdict = runTable(table, Float64Array.from(point), [])
          assert.deepEqual([ours.outcome, ours.kind === "rule" ? ours.rule : null], [naive.outcome, naive.rule])
          assert.deepEqual(
            [outcomes[severityOf(table, verdict)], verdict >= 0 ? verdict : null],
            [naive.outcome, naive.rule]
          )
        }
      }),
      { numRuns, seed: 20_261_126 }
    )
  })
})

describe("lint", () => {
  it("finds exactly what an enumeration of all points finds", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anEnvelope, (compiled) => {
        const truth = truthOf(compiled)
        const report = lint(compiled)
        assert.isTrue(report.complete)
        assert.deepEqual(found(report.findings, "E101"), [...truth.empty])
        assert.deepEqual([...found(report.findings, "E102"), ...found(report.findings, "E107")].sort(), [...truth.dead])
        assert.deepEqual(found(report.findings, "W202"), [...truth.redundant])
        const uncovered = report.findings.find(({ code }) => code === "W201")
        assert.equal(uncovered?.volume ?? "0", String(truth.uncovered.length))
        assert.equal(report.domain, String(truth.points.length))
        const faults = tierFaults(compiled)
        const reported = report.findings.filter(({ code }) => code === "E104")
        assert.equal(reported.length > 0, faults.size > 0, `tier faults: ${[...faults].join()}`)
        for (const { rules } of reported) assert.isTrue(faults.has(rules[0] ?? "default"))
      }),
      { numRuns, seed: 20_261_126 }
    )
  })

  it("gives examples that prove its findings", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anEnvelope, (compiled) => {
        const own = compiled.otherwise.length - 1
        const place = (id: string): number => compiled.rules.findIndex((rule) => rule.id === id)
        for (const { code, example, rules } of lint(compiled).findings) {
          if (example === null) continue
          const point = brutePoint(compiled.axes, example)
          assert.isNotNull(point, `${code}: the example is no input of the envelope`)
          if (point === null) continue
          const verdict = bruteVerdict(compiled, point)
          if (code === "W201") assert.equal(verdict.silent, own)
          if (code === "W203")
            assert.isTrue(ruleHolds(compiled, place(rules[0]!), point) && ruleHolds(compiled, place(rules[1]!), point))
          if (code === "E104") {
            const tier = compiled.axes.findIndex(({ name }) => name === "tier")
            assert.isAbove(
              gravity(verdict.outcome),
              gravity(bruteVerdict(compiled, point.with(tier, point[tier]! - 1)).outcome)
            )
          }
        }
      }),
      { numRuns, seed: 20_261_126 }
    )
  })

  it("reports only what it proved when its budget is small", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(
        anEnvelope,
        fc.integer({ min: 0, max: 12 }),
        fc.oneof(fc.nat(60), fc.nat(2_000)),
        (compiled, budget, searchBudget) => {
          const truth = truthOf(compiled)
          const { complete, findings, open, proved } = lint(compiled, {}, { budget, searchBudget })
          assert.equal(
            findings.some(({ code }) => code === "E110"),
            !complete
          )
          assert.equal(complete, open.length === 0)
          const subset = (some: ReadonlyArray<string>, all: ReadonlyArray<string>): boolean =>
            some.every((one) => all.includes(one))
          const dead = [...found(findings, "E102"), ...found(findings, "E107")].sort()
          assert.isTrue(subset(dead, truth.dead))
          assert.isTrue(subset(found(findings, "W202"), [...truth.redundant, ...truth.dead]))
          if (proved.includes("E102") && proved.includes("E107")) assert.deepEqual(dead, [...truth.dead])
          if (proved.includes("W202") && proved.includes("E102"))
            assert.deepEqual(found(findings, "W202"), [...truth.redundant])
          const uncovered = findings.find(({ code }) => code === "W201")
          if (uncovered !== undefined) assert.isAbove(truth.uncovered.length, 0)
          else if (proved.includes("W201")) assert.equal(truth.uncovered.length, 0)
          if (proved.includes("E104")) assert.equal(found(findings, "E104").length > 0, tierFaults(compiled).size > 0)
        }
      ),
      { numRuns, seed: 20_261_126 }
    )
  })
})

/** Outcome of a version for an input, which may lie outside its domain. */
const says = (compiled: Compiled, inputs: Readonly<Record<string, string | number | boolean>>): string => {
  const point = brutePoint(compiled.axes, inputs)
  return point === null ? "deny" : bruteVerdict(compiled, point).outcome
}

const transitionsOf = (from: Compiled, to: Compiled): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const { axes } = commonAxes(from, to)
  for (const point of everyPoint(axes)) {
    const inputs = bruteInputs(axes, point)
    const [before, after] = [says(from, inputs), says(to, inputs)]
    if (before !== after) counts.set(`${before} ${after}`, (counts.get(`${before} ${after}`) ?? 0) + 1)
  }
  return counts
}

const changeOf = (transitions: ReadonlyMap<string, number>): string => {
  const pairs = [...transitions.keys()].map((key) => key.split(" "))
  if (pairs.length === 0) return "equal"
  const order = ["allow", "allow_with_notice", "require_review", "deny", "halt"]
  return pairs.some(([before, after]) => order.indexOf(after!) < order.indexOf(before!)) ? "loosens" : "tightening_only"
}

describe("diff", () => {
  it(
    "lists the transitions that an enumeration of all points gives, with volumes and examples",
    { timeout: 600_000 },
    () => {
      fc.assert(
        fc.property(twoEnvelopes, ([from, to]) => {
          const truth = transitionsOf(from, to)
          const report = diff(from, to)
          assert.deepEqual(
            new Map(report.transitions.map((one) => [`${one.from} ${one.to}`, one.volume])),
            new Map([...truth].map(([key, count]) => [key, String(count)]))
          )
          assert.equal(report.change, changeOf(truth))
          for (const { example, from: before, to: after } of report.transitions)
            assert.deepEqual([says(from, example), says(to, example)], [before, after])
        }),
        { numRuns, seed: 20_261_126 }
      )
    }
  )

  it("reports only true transitions, rule by rule, when the diagram is too large", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(
        twoEnvelopes,
        fc.integer({ min: 0, max: 30 }),
        fc.oneof(fc.nat(60), fc.nat(2_000)),
        ([from, to], budget, searchBudget) => {
          const truth = transitionsOf(from, to)
          const report = diff(from, to, { budget, searchBudget })
          if (report.change !== "unknown") assert.equal(report.change, changeOf(truth))
          for (const one of report.transitions) {
            assert.isTrue(truth.has(`${one.from} ${one.to}`))
            assert.deepEqual([says(from, one.example), says(to, one.example)], [one.from, one.to])
          }
        }
      ),
      { numRuns, seed: 20_261_126 }
    )
  })
})
