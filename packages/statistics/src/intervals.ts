/** Intervals of shares. */

/** Quantile of the standard normal distribution at 0.975: intervals of 95 %. */
export const Z95 = 1.959963984540054

/** A share between two bounds. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * Wilson's score interval of a share.
 *
 * - Shape: `share` 0 to 1, of `trials` above 0, which need not be whole: an effective number of trials.
 * - Formula: `(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)`.
 * - Source: Wilson, Probable Inference, 1927, JASA 22.
 */
export const wilson = (share: number, trials: number, z: number = Z95): Interval => {
  const square = (z * z) / trials
  const middle = share + square / 2
  const half = z * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials))
  return { low: Math.max(0, (middle - half) / (1 + square)), high: Math.min(1, (middle + half) / (1 + square)) }
}

/** Trials of one cluster: repeats of one case, which are alike. */
export interface Cluster {
  readonly passed: number
  readonly trials: number
}

/** A share over clusters. */
export interface ClusteredShare extends Interval {
  readonly share: number
  readonly trials: number
  readonly clusters: number
}

/**
 * The share of passed trials, with an interval that counts clusters and not trials: repeats of one case say less than
 * as many cases. Null without a trial.
 *
 * - Formula: Wilson's interval with `n = p(1-p)/v`, `v` the variance of the ratio over clusters,
 *   `v = m/(m-1) Σ(passed - p trials)² / (Σ trials)²`; at least 1 and at most all trials. Where no cluster differs, or
 *   there is only one, `n` is the number of clusters.
 * - Source: Cochran, Sampling Techniques, 1977, section 3.12; effective sample size as Korn and Graubard, 1998.
 */
export const clusteredShare = (clusters: ReadonlyArray<Cluster>): ClusteredShare | null => {
  const counted = clusters.filter(({ trials }) => trials > 0)
  const trials = counted.reduce((sum, one) => sum + one.trials, 0)
  if (trials === 0) return null
  const share = counted.reduce((sum, one) => sum + one.passed, 0) / trials
  const m = counted.length
  const spread = counted.reduce((sum, one) => sum + (one.passed - share * one.trials) ** 2, 0)
  const variance = m < 2 ? 0 : ((m / (m - 1)) * spread) / trials ** 2
  const effective = variance === 0 ? m : Math.min(trials, Math.max(1, (share * (1 - share)) / variance))
  return { share, trials, clusters: m, ...wilson(share, effective) }
}

/**
 * The chance that `k` repeats of a case all pass, averaged over the cases that have `k` trials; null where none has.
 *
 * - Formula: mean of `C(passed, k) / C(trials, k)`, which is unbiased.
 * - Source: Yao et al., τ-bench, 2024, pass^k.
 */
export const passPower = (clusters: ReadonlyArray<Cluster>, k: number): number | null => {
  const counted = clusters.filter(({ trials }) => trials >= k)
  if (counted.length === 0) return null
  const sum = counted.reduce((total, { passed, trials }) => {
    let share = 1
    for (let i = 0; i < k; i++) share *= Math.max(0, passed - i) / (trials - i)
    return total + share
  }, 0)
  return sum / counted.length
}
