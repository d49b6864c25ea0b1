/**
 * The value of a monitor's window and what it says of the threshold, from counts that a record holds. Service and
 * replay both run it. Spec: api.md "Document 2"; decision 0078.
 */
import { logShareWager, stabilityIndex } from "@flyball/statistics"
import type { MonitorChangedBody } from "@flyball/evidence"

type Metric = MonitorChangedBody["metric"]

/** The members of a monitor that decide an alert. Units: milliseconds. */
export interface MonitorRule {
  readonly metric: Metric
  readonly comparator: "above" | "below"
  readonly threshold: number
  readonly clearThreshold: number
  readonly windowMs: number
  readonly minSamples: number
  readonly pendingMs: number
  readonly clearMs: number
  /** Null for `volume`: that nothing comes is a value there. */
  readonly noDataMs: number | null
  readonly onNoData: "keep" | "alert" | "resolve"
  /** Chance of a false alert, ever; null in mode `threshold`. */
  readonly alpha: number | null
}

/** The counts of a window. `counts`: see {@link valueOf}. */
export interface WindowCounts {
  readonly samples: number
  readonly counts: ReadonlyArray<number>
}

/** Metrics that are the share of samples that count: they have a mode `anytime`. */
export const shareMetrics: ReadonlyArray<string> = ["error_rate", "prediction_rate", "label_accuracy", "missing_rate"]

/** Sums of scores are whole numbers of these. */
export const SCORE_UNITS = 10_000

/**
 * The value of a metric.
 *
 * - Shares: `[how many count]`, the share of the samples. `volume`: `[]`, the samples.
 * - `score_mean`: `[sum in ten-thousandths]`.
 * - `latency_p95`: `[samples below it, samples up to it, the value]` in milliseconds: the smallest latency that 95 of
 *   100 samples do not exceed (nearest rank), each rounded up to two digits.
 * - `drift_psi`: counts of each bin, against those of `reference`.
 * - Null where there is none: no samples, or counts that are of no such value.
 */
export const valueOf = (
  metric: Metric,
  { counts, samples }: WindowCounts,
  reference: ReadonlyArray<number> | null
): number | null => {
  const [first = 0, upTo = 0, stated = 0] = counts
  const isOf = (length: number) => samples > 0 && counts.length === length
  switch (metric) {
    case "volume":
      return counts.length === 0 ? samples : null
    case "score_mean":
      return isOf(1) ? first / SCORE_UNITS / samples : null
    case "latency_p95":
      return isOf(3) && first >= 0 && 20 * first < 19 * samples && 19 * samples <= 20 * upTo && upTo <= samples
        ? stated
        : null
    case "drift_psi":
      return reference !== null && isOf(reference.length) && counts.reduce((sum, one) => sum + one, 0) === samples
        ? stabilityIndex(counts, reference)
        : null
    default:
      return isOf(1) && first >= 0 && first <= samples ? first / samples : null
  }
}

/** Parts of a window, each of which leaves it as a whole. */
export const WINDOW_SLOTS = 10

/** Where the window that ends at a time begins: it has nine whole parts, and the one under way. */
export const windowFrom = ({ windowMs }: MonitorRule, toMs: number): number => {
  const slotMs = windowMs / WINDOW_SLOTS
  return (Math.floor(toMs / slotMs) - WINDOW_SLOTS + 1) * slotMs
}

/** The verdict on a value: `few` samples say nothing; `between` the thresholds nothing changes. */
export type Verdict = "breach" | "between" | "clear" | "few"

/** Holds a value against the thresholds of a monitor. Both are strict. */
export const verdictOf = (
  { clearThreshold, comparator, metric, minSamples, threshold }: MonitorRule,
  samples: number,
  value: number | null
): Verdict => {
  if (value === null || (metric !== "volume" && samples < minSamples)) return "few"
  const side = comparator === "above" ? 1 : -1
  if (side * value > side * threshold) return "breach"
  return side * value < side * clearThreshold ? "clear" : "between"
}

/**
 * The evidence of a wager of mode `anytime` that `count` of `samples` are beyond the threshold, and what it needs to
 * win. The wager of number `n` has `alpha / (n (n + 1))` of the bound, and these add up to `alpha`.
 *
 * - Unit: natural logarithms of e-values.
 */
export const wagerOf = (
  { alpha, comparator, threshold }: MonitorRule,
  number: number,
  { counts: [count = 0], samples }: WindowCounts
): { readonly logE: number; readonly needed: number } => ({
  logE:
    comparator === "above"
      ? logShareWager(count, samples, threshold)
      : logShareWager(samples - count, samples, 1 - threshold),
  needed: Math.log((number * (number + 1)) / alpha!)
})
