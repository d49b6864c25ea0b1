/**
 * Compares the rates of groups by the four-fifths rule. It knows nothing of decisions: screens of an agent and analyses
 * of a data set run it. Spec: research on fairness 3.1 and 3.2; decision 0074.
 */
import type { FairnessScreenedBody } from "@flyball/evidence"
import { fisherTest, isAtMost, isBelowFourFifths, ratioScore, type Share } from "@flyball/statistics"

/** Most groups that are compared. */
export const MAX_GROUPS = 20

/** Says what counts show of a ratio against four fifths. */
export type RateVerdict = NonNullable<FairnessScreenedBody["verdict"]>

/** Why no ratio is defined. */
export type UndefinedRatio = NonNullable<FairnessScreenedBody["undefined_reason"]>

/** A group against the one with the highest rate. */
export interface GroupVerdict {
  /** True when its rate is below four fifths of the highest one, by the counts alone. Exact. */
  readonly belowFourFifths: boolean
  readonly verdict: RateVerdict
}

/** The comparison of groups. */
export type GroupRates =
  | {
      /** Place of the group with the highest rate; of equal ones, the largest, then the first. */
      readonly base: number
      /** In the order of the groups; null for the base. */
      readonly groups: ReadonlyArray<GroupVerdict | null>
      readonly verdict: RateVerdict
      readonly undefinedReason: null
    }
  | { readonly base: null; readonly verdict: null; readonly undefinedReason: UndefinedRatio }

/** Below so many trials of one of two groups, Fisher's exact test has to reject equal rates too. */
const SMALL = 30

/**
 * Quantiles of the standard normal distribution at `1 - 0.025 / C(g, 2)` for g from 2 on: intervals of 95 % for all
 * pairs of g groups together (Bonferroni), since the base is chosen by its rate. Those beyond {@link MAX_GROUPS} are
 * for pairs in two strata.
 */
const simultaneousZ = [
  1.9599639845400536, 2.3939797998185104, 2.638257273476751, 2.8070337683438114, 2.9351994688666982, 3.038074304924211,
  3.123734630323846, 3.1969502291312533, 3.260767488420533, 3.3172473615524347, 3.367847180032718, 3.4136342659485033,
  3.455412966339047, 3.4938040039432687, 3.529296088834735, 3.562280646228619, 3.5930758684962236, 3.62194379334657,
  3.649102696300977, 3.674736256384234, 3.6990004509522763, 3.722028821257415, 3.743936548728909, 3.764823649533899,
  3.784777506186301, 3.803874894274097, 3.822183620166565, 3.839763855744625
] as const

/** The quantile for the intervals of `groups` groups, 2 to {@link MAX_GROUPS}. */
export const zOfGroups = (groups: number): number => simultaneousZ[groups - 2]!

/** A quantile for the intervals of so many comparisons, up to two for each pair of {@link MAX_GROUPS} groups. */
export const zOfPairs = (pairs: number): number => {
  let groups = 2
  while ((groups * (groups - 1)) / 2 < pairs) groups++
  return zOfGroups(groups)
}

/**
 * Compares each group with the one that has the highest rate. A group without trials has no rate, and is not counted
 * here: leave it out. `demonstrated` where one group is; `not_demonstrated` where all are.
 *
 * - Shape: up to {@link MAX_GROUPS} groups, each with a trial at least.
 * - Method: Koopman's score interval of the ratio, 95 % for all pairs together, against 4/5; and where one of two
 *   groups has fewer than 30 trials, Fisher's exact test at the same level.
 */
export const compareGroups = (groups: ReadonlyArray<Share>): GroupRates => {
  if (groups.length < 2)
    return { base: null, verdict: null, undefinedReason: groups.length === 0 ? "no_groups" : "one_group" }
  const base = groups.reduce((best, one, at) => (isHigher(one, groups[best]!) ? at : best), 0)
  if (groups[base]!.passed === 0) return { base: null, verdict: null, undefinedReason: "no_positive_outcomes" }
  const verdicts = groups.map((one, at) => (at === base ? null : against(one, groups[base]!, groups.length)))
  const others = verdicts.filter((one) => one !== null)
  const verdict = others.some((one) => one.verdict === "demonstrated")
    ? "demonstrated"
    : others.every((one) => one.verdict === "not_demonstrated")
      ? "not_demonstrated"
      : "insufficient_evidence"
  return { base, groups: verdicts, verdict, undefinedReason: null }
}

const isHigher = (one: Share, other: Share): boolean => {
  const [mine, its] = [BigInt(one.passed) * BigInt(other.trials), BigInt(other.passed) * BigInt(one.trials)]
  return mine > its || (mine === its && one.trials > other.trials)
}

const against = (one: Share, base: Share, groups: number): GroupVerdict => {
  const z = zOfGroups(groups)
  const score = ratioScore(one, base, 0.8)
  const isBelow = score < -z && (Math.min(one.trials, base.trials) >= SMALL || isRejected(one, base, groups))
  return {
    belowFourFifths: isBelowFourFifths(one, base),
    verdict: isBelow ? "demonstrated" : score >= z ? "not_demonstrated" : "insufficient_evidence"
  }
}

const isRejected = (one: Share, base: Share, groups: number): boolean =>
  isAtMost(fisherOf(one, base), 1n, 10n * BigInt(groups * (groups - 1)))

/** Fisher's test of equal rates. The smaller group stands first: its margin bounds the work. */
export const fisherOf = (one: Share, other: Share) => {
  const [first, second] = one.trials <= other.trials ? [one, other] : [other, one]
  return fisherTest([
    [first.passed, first.trials - first.passed],
    [second.passed, second.trials - second.passed]
  ])
}
