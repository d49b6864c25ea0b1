/** Compares two runs of one suite, case by case. Service and verifier run it. Spec: decision 0067. */
import type { EvalRecordedBody } from "@flyball/evidence"
import { type Cluster, decimalOf, isAtMost, signTest } from "@flyball/statistics"
import type { Json, JsonMap } from "../records/record.ts"

/** How often a case ended in which way. */
export interface EvalCase {
  readonly id: string
  readonly passed: number
  readonly failed: number
  readonly errored: number
  readonly skipped: number
}

/** Trials of a run by outcome. */
export type EvalCounts = Pick<EvalCase, "errored" | "failed" | "passed" | "skipped">

/** The result of a comparison, as the record states it. */
export type EvalComparison = Required<Pick<EvalRecordedBody, "common_cases" | "losses" | "p" | "verdict" | "wins">>

/** Trials of all cases by outcome. */
export const evalCounts = (cases: ReadonlyArray<EvalCase>): EvalCounts => {
  const sum = (of: keyof EvalCounts): number => cases.reduce((total, one) => total + one[of], 0)
  return { passed: sum("passed"), failed: sum("failed"), errored: sum("errored"), skipped: sum("skipped") }
}

/** The trials of each case that passed or failed: what rates count. */
export const evalClusters = (cases: ReadonlyArray<EvalCase>): ReadonlyArray<Cluster> =>
  cases.map(({ failed, passed }) => ({ passed, trials: passed + failed }))

/**
 * Compares a run with an earlier one of the same suite by the exact sign test over the cases that both have, with 5 %
 * for an error of the first kind. Repeats of a case are one vote: its share of passes went up, down, or stayed.
 * Cases without a pass or a failure in one of the runs do not count.
 */
export const compareRuns = (
  baseline: ReadonlyArray<EvalCase>,
  run: ReadonlyArray<EvalCase>
): { readonly comparison: EvalComparison; readonly lost: ReadonlyArray<string> } => {
  const before = new Map(baseline.map((one) => [one.id, one]))
  const [won, lost]: [Array<string>, Array<string>] = [[], []]
  let common = 0
  for (const now of run) {
    const then = before.get(now.id)
    if (then === undefined || isUndecided(then) || isUndecided(now)) continue
    common++
    // Shares of passes, compared without a division.
    const change = now.passed * (then.passed + then.failed) - then.passed * (now.passed + now.failed)
    if (change > 0) won.push(now.id)
    if (change < 0) lost.push(now.id)
  }
  const p = signTest(won.length, lost.length)
  const verdict = !isAtMost(p, 1n, 20n) ? "inconclusive" : won.length > lost.length ? "better" : "worse"
  return {
    comparison: { common_cases: common, wins: won.length, losses: lost.length, p: decimalOf(p), verdict },
    lost
  }
}

const isUndecided = ({ failed, passed }: EvalCase): boolean => passed + failed === 0

/** The cases of a part `suite`; null where they are not as a service writes them. */
export const readEvalCases = (members: JsonMap): ReadonlyArray<EvalCase> | null => {
  const { cases } = members
  if (!Array.isArray(cases)) return null
  const read = (cases as ReadonlyArray<Json>).map(readCase)
  return read.includes(null) || new Set(read.map((one) => one!.id)).size < read.length
    ? null
    : (read as ReadonlyArray<EvalCase>)
}

const readCase = (value: Json): EvalCase | null => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const { errored, failed, id, passed, skipped } = value as JsonMap
  return typeof id === "string" && [errored, failed, passed, skipped].every(isCount)
    ? { id, errored: errored as number, failed: failed as number, passed: passed as number, skipped: skipped as number }
    : null
}

const isCount = (value: Json | undefined): boolean => Number.isSafeInteger(value) && (value as number) >= 0
