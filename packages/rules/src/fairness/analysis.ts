/**
 * Compares predictions between groups of rows: parity, odds and calibration, each with the interval of the difference
 * that is reported, and a p-value of it. Service and verifier run it. Spec: document 2 section 2; decision 0077.
 */
import { fairnessMetrics as metricNames } from "@flyball/evidence/words"
import { type AnalysisCompletedBody, type Crypto, type Slices, utf8 } from "@flyball/evidence"
import {
  clopperPearson,
  gapsAsLarge,
  generator,
  type Generator32,
  type Interval,
  logFactorials,
  meanGapsAsLarge,
  type Share,
  shareDifference,
  wilson,
  Z95
} from "@flyball/statistics"
import { type AttributeCounts, type DataSet, type GroupCounts, PPM } from "./data-set.ts"
import { compareGroups, type RateVerdict, zOfPairs } from "./group-rates.ts"

/** Random tables, or shuffles, of a test. */
export const PERMUTATIONS = 999

/** Below so many rows in one of two groups, their difference has to be rare by chance too. */
const SMALL = 30
/** How rare. */
const ALPHA = 0.05

export { metricNames }

/** One of {@link metricNames}. */
export type MetricName = (typeof metricNames)[number]

/** Names of rates of a group. `calibration` is the mean of label less score. */
export type RateName = "selection_rate" | "tpr" | "fpr" | "ppv" | "npv" | "calibration"

type AttributeBody = AnalysisCompletedBody["attributes"][number]
/** Why a metric does not exist. */
export type UndefinedMetric = NonNullable<AttributeBody["calibration"]["undefined_reason"]>

/** A rate of one group: a share of its rows, or the mean of a number of theirs. */
export interface Estimate {
  readonly value: number
  readonly n: number
  /** Null for a mean. */
  readonly share: Share | null
  /** Of one row; unused for a share. */
  readonly variance: number
}

interface Stratum {
  readonly rate: RateName
  /** Why no group has the rate. */
  readonly without: UndefinedMetric
  readonly counts: (group: GroupCounts) => Share
}

const of = (passed = 0, others = 0): Share => ({ passed, trials: passed + others })
const strata: { readonly [M in MetricName]: ReadonlyArray<Stratum> } = {
  demographic_parity: [
    { rate: "selection_rate", without: "no_groups", counts: ({ n, selected }) => ({ passed: selected, trials: n }) }
  ],
  equalized_odds: [
    { rate: "tpr", without: "no_positive_labels", counts: ({ fn, tp }) => of(tp, fn) },
    { rate: "fpr", without: "no_negative_labels", counts: ({ fp, tn }) => of(fp, tn) }
  ],
  calibration: [
    { rate: "ppv", without: "no_positive_predictions", counts: ({ fp, tp }) => of(tp, fp) },
    { rate: "npv", without: "no_negative_predictions", counts: ({ fn, tn }) => of(tn, fn) }
  ]
}

const isScored = ({ groups }: AttributeCounts): boolean => groups.some(({ gap_ppm: gap }) => gap !== undefined)
const isLabelled = ({ groups }: AttributeCounts): boolean => groups.some(({ tp }) => tp !== undefined)

/** The rate of a group; null where it has no row that counts. */
export const estimateOf = (rate: RateName, group: GroupCounts): Estimate | null => {
  if (rate === "calibration") {
    const { fn = 0, fp = 0, gap_ppm: gap, square_ppm: square, tn = 0, tp = 0 } = group
    const n = fn + fp + tn + tp
    if (n === 0 || gap === undefined || square === undefined) return null
    const value = gap / n / PPM
    // Few rows say little of their variance: it counts as the largest that is possible.
    const variance = n < SMALL ? 1 : Math.max(0, (square / PPM - n * value * value) / (n - 1))
    return { value, n, share: null, variance }
  }
  const [found] = Object.values(strata).flatMap((all) => all.filter((one) => one.rate === rate))
  const share = found!.counts(group)
  return share.trials === 0 ? null : { value: share.passed / share.trials, n: share.trials, share, variance: 0 }
}

/** The interval of one rate, 95 %: of a share exact below 30 rows, else Wilson's; of a mean by its variance. */
export const estimateInterval = ({ n, share, value, variance }: Estimate): Interval => {
  if (share !== null) return n < SMALL ? clopperPearson(share.passed, n) : wilson(value, n)
  const half = Z95 * Math.sqrt(variance / n)
  return { low: value - half, high: value + half }
}

const differenceInterval = (one: Estimate, other: Estimate, z: number): Interval => {
  if (one.share !== null && other.share !== null) return shareDifference(one.share, other.share, z)
  const half = z * Math.sqrt(one.variance / one.n + other.variance / other.n)
  return { low: one.value - other.value - half, high: one.value - other.value + half }
}

/** The largest difference of a metric, and between which groups it is. */
export interface GroupDifference {
  readonly value: number
  /** Of this difference, 95 % for all pairs of the metric together. */
  readonly interval: Interval
  readonly rate: RateName
  readonly high: number
  readonly low: number
  /** True when a group with rows has no such rate, and is not compared. */
  readonly isIncomplete: boolean
  /** Reads the intervals of all pairs against a tolerance. `p`: of the value. */
  readonly verdict: (tolerance: number, p: number) => RateVerdict
}

/** Compares the groups of a protected column by one metric; or says why there is no value. */
export const differenceOf = (name: MetricName, attribute: AttributeCounts): GroupDifference | UndefinedMetric => {
  const { groups } = attribute
  if (groups.length < 2) return groups.length === 0 ? "no_groups" : "one_group"
  if (name !== "demographic_parity" && !isLabelled(attribute)) return "no_label"
  const compared: ReadonlyArray<Pick<Stratum, "rate" | "without">> =
    name === "calibration" && isScored(attribute) ? [{ rate: "calibration", without: "no_label" }] : strata[name]
  const z = zOfPairs((compared.length * groups.length * (groups.length - 1)) / 2)
  const pairs: Array<Omit<GroupDifference, "isIncomplete" | "verdict"> & { readonly isSmall: boolean }> = []
  let isIncomplete = false
  for (const { rate, without } of compared) {
    const known = groups.flatMap((group, at) => {
      const estimate = estimateOf(rate, group)
      return estimate === null ? [] : [{ at, estimate }]
    })
    if (known.length < 2) return known.length === 0 ? without : "one_group"
    isIncomplete ||= known.length < groups.length
    for (const [place, one] of known.entries())
      for (const other of known.slice(place + 1)) {
        const [high, low] = one.estimate.value >= other.estimate.value ? [one, other] : [other, one]
        pairs.push({
          value: high.estimate.value - low.estimate.value,
          interval: differenceInterval(high.estimate, low.estimate, z),
          rate,
          high: high.at,
          low: low.at,
          isSmall: Math.min(high.estimate.n, low.estimate.n) < SMALL
        })
      }
  }
  const { isSmall: _, ...largest } = pairs.reduce((best, one) => (one.value > best.value ? one : best))
  return {
    ...largest,
    isIncomplete,
    verdict: (tolerance, p) => {
      if (pairs.some(({ interval, isSmall }) => interval.low > tolerance && (!isSmall || p <= ALPHA)))
        return "demonstrated"
      const isInside = pairs.every(({ interval: { high, low } }) => low >= -tolerance && high <= tolerance)
      return isInside ? "not_demonstrated" : "insufficient_evidence"
    }
  }
}

/** The counts of a metric within its strata, for random tables. */
const sharesOf = (name: MetricName, { groups }: AttributeCounts): ReadonlyArray<ReadonlyArray<Share>> =>
  strata[name].map(({ counts }) => groups.map(counts))

/** The input of an analysis. `set` is null where only its counts are known: then scores have no p-value. */
export interface AnalysisInput {
  readonly attributes: ReadonlyArray<AttributeCounts>
  readonly set: DataSet | null
  readonly digest: string
  readonly tolerancePpm: number
  readonly permutations: number
}

/** The members of an analysis that a record states. */
export type Analysed = Pick<AnalysisCompletedBody, "attributes" | "bias_detected">

/**
 * Analyses the counts of a data set. The same counts and digest give the same result, everywhere.
 *
 * - Method: each p-value is the share of random tables (for scores: of shuffles) whose largest difference is at least
 *   as large. `demonstrated`: the interval of a pair lies wholly beyond the tolerance, and where one of its groups has
 *   fewer than 30 rows, p is at most 0.05. `not_demonstrated`: those of all pairs lie within. Four fifths:
 *   {@link compareGroups}.
 * - Answers `as_extreme` of null where the set is needed and not known.
 */
export function* analyse(
  { attributes, digest, permutations, set, tolerancePpm }: AnalysisInput,
  sha256: Crypto["sha256"]
): Slices<Analysed> {
  const tolerance = tolerancePpm / PPM
  const rowsOf = ({ groups }: AttributeCounts): number => groups.reduce((sum, { n }) => sum + n, 0)
  const logs = yield* logFactorials(Math.max(0, ...attributes.map(rowsOf)))
  const scored = yield* ofScores(attributes, set, permutations, seeded(sha256, digest, "scores"))
  const found: Array<AttributeBody> = []
  for (const [at, attribute] of attributes.entries()) {
    const metric = function* (name: MetricName): Slices<AttributeBody["calibration"]> {
      const difference = differenceOf(name, attribute)
      if (typeof difference === "string") return { undefined_reason: difference }
      const count =
        difference.rate === "calibration"
          ? (scored?.[at] ?? 0)
          : yield* gapsAsLarge(sharesOf(name, attribute), permutations, seeded(sha256, digest, `${at} ${name}`), logs)
      return { as_extreme: count, verdict: difference.verdict(tolerance, pOf(count, permutations)) }
    }
    const rates = compareGroups(attribute.groups.map((group) => ({ passed: group.selected, trials: group.n })))
    found.push({
      calibration: yield* metric("calibration"),
      demographic_parity: yield* metric("demographic_parity"),
      equalized_odds: yield* metric("equalized_odds"),
      four_fifths: rates.base === null ? { undefined_reason: rates.undefinedReason } : { verdict: rates.verdict },
      groups: attribute.groups,
      unknown: attribute.unknown
    })
  }
  return {
    attributes: found,
    bias_detected: found.some(
      ({ calibration, demographic_parity: parity, equalized_odds: odds, four_fifths: fifths }) =>
        [calibration, parity, odds, fifths].some(({ verdict }) => verdict === "demonstrated")
    )
  }
}

/** The p-value of a count. */
export const pOf = (asExtreme: number, permutations: number): number => (asExtreme + 1) / (permutations + 1)

const seeded = (sha256: Crypto["sha256"], digest: string, what: string): Generator32 =>
  generator(sha256(utf8(`fairness/1 ${digest} ${what}`)))

function* ofScores(
  attributes: ReadonlyArray<AttributeCounts>,
  set: DataSet | null,
  permutations: number,
  random: Generator32
): Slices<ReadonlyArray<number> | null> {
  if (set === null || set.label === null || set.score === null) return null
  const { label, score } = set
  const sizes = attributes.map(({ groups }) => groups.map(({ fn = 0, fp = 0, tn = 0, tp = 0 }) => fn + fp + tn + tp))
  const labelled = label.reduce((sum, one) => (one === 2 ? sum : sum + 1), 0)
  const values = new Uint32Array(labelled)
  const columns = sizes.map((of) => ({ codes: new Uint8Array(labelled), sizes: of }))
  for (let row = 0, at = 0; row < set.rows; row++) {
    if (label[row] === 2) continue
    // From 0 on: the differences of means stay what they are.
    values[at] = label[row]! * PPM - score[row]! + PPM
    for (let column = 0; column < columns.length; column++) columns[column]!.codes[at] = set.protected[column]![row]!
    at++
    if (row % 10_000 === 9_999) yield
  }
  yield
  return yield* meanGapsAsLarge(values, columns, permutations, random)
}

/** True when any metric of an analysis has a value. */
export const hasMetric = (attributes: ReadonlyArray<AttributeCounts>): boolean =>
  attributes.some((attribute) => metricNames.some((name) => typeof differenceOf(name, attribute) !== "string"))
