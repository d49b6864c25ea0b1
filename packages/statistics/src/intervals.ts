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

/**
 * Clopper and Pearson's interval of a share: exact, and never shorter than stated. 95 %.
 *
 * - Shape: whole numbers, `0 <= passed <= trials`, `trials` from 1 on.
 * - Formula: the bounds are where `P(X >= passed)` and `P(X <= passed)` of the binomial distribution are 2.5 %, found
 *   by halving; sums and products alone, so that everybody gets the same digits.
 * - Source: Clopper and Pearson, 1934, Biometrika 26.
 */
export const clopperPearson = (passed: number, trials: number): Interval => ({
  low: passed === 0 ? 0 : halved(0, 1, (p) => tail(trials, p, passed, trials) >= TAIL),
  high: passed === trials ? 1 : halved(0, 1, (p) => tail(trials, p, 0, passed) < TAIL)
})

const TAIL = 0.025

/** `P(from <= X <= to)` of the binomial distribution, in terms of its most probable value. */
const tail = (trials: number, p: number, from: number, to: number): number => {
  const top = Math.min(trials, Math.floor((trials + 1) * p))
  const odds = p / (1 - p)
  let [all, within] = [0, 0]
  const add = (k: number, weight: number): void => {
    all += weight
    if (k >= from && k <= to) within += weight
  }
  add(top, 1)
  for (let k = top, weight = 1; k < trials && weight > 0; k++) add(k + 1, (weight *= ((trials - k) / (k + 1)) * odds))
  for (let k = top, weight = 1; k > 0 && weight > 0; k--) add(k - 1, (weight *= k / (trials - k + 1) / odds))
  return within / all
}

/** Where a condition begins to hold between two numbers. */
const halved = (low: number, high: number, holds: (at: number) => boolean): number => {
  let [below, above] = [low, high]
  for (let step = 0; step < 60; step++) {
    const middle = (below + above) / 2
    if (holds(middle)) above = middle
    else below = middle
  }
  return above
}

/** Passes among trials: whole numbers, `0 <= passed <= trials`, `trials` from 1 on. */
export interface Share {
  readonly passed: number
  readonly trials: number
}

/**
 * The interval of the difference of two independent shares, first minus second.
 *
 * - Formula: `d - √((p1 - l1)² + (u2 - p2)²)` to `d + √((u1 - p1)² + (p2 - l2)²)`, `l` and `u` of Wilson's intervals.
 * - Source: Newcombe, 1998, Statistics in Medicine 17, 873-890, method 10.
 */
export const shareDifference = (first: Share, second: Share, z: number = Z95): Interval => {
  const [p, q] = [first.passed / first.trials, second.passed / second.trials]
  const [one, two] = [wilson(p, first.trials, z), wilson(q, second.trials, z)]
  return {
    low: p - q - Math.sqrt((p - one.low) ** 2 + (two.high - q) ** 2),
    high: p - q + Math.sqrt((one.high - p) ** 2 + (q - two.low) ** 2)
  }
}

/**
 * How far the ratio of two independent shares lies above `ratio`, in standard deviations under the hypothesis that it
 * is `ratio`; below it: negative. Roots, sums and products alone, so that everybody gets the same digits.
 *
 * - Shape: `ratio` above 0; not both without a pass. 0 where the counts are exactly as the hypothesis says.
 * - Formula: `(p1 - r p0) / √(q1(1-q1)/n1 + r² q0(1-q0)/n0)`, `q1 = r q0`, `q0` the likeliest share of the second under
 *   the hypothesis: the smaller root of `(n1+n0) r q² - (r(n1+x0) + x1 + n0) q + x1 + x0`.
 * - Source: Koopman, 1984, Biometrics 40; Miettinen and Nurminen, 1985.
 */
export const ratioScore = (first: Share, second: Share, ratio: number): number => {
  const [x1, n1, x0, n0] = [first.passed, first.trials, second.passed, second.trials]
  const above = x1 / n1 - (ratio * x0) / n0
  if (above === 0) return 0
  const [a, b, c] = [(n1 + n0) * ratio, ratio * (n1 + x0) + x1 + n0, x1 + x0]
  const q0 = Math.min(1, 1 / ratio, (2 * c) / (b + Math.sqrt(Math.max(0, b * b - 4 * a * c))))
  const q1 = ratio * q0
  return above / Math.sqrt(Math.max(0, (q1 * (1 - q1)) / n1 + (ratio * ratio * q0 * (1 - q0)) / n0))
}

/**
 * The interval of the ratio of two independent shares, first to second: ratios that {@link ratioScore} does not reject.
 * `high` is null where no ratio is too great, because the second has no pass; null where neither has one.
 *
 * - Source: Koopman, 1984, Biometrics 40, 513-517.
 */
export const shareRatio = (
  first: Share,
  second: Share,
  z: number = Z95
): { readonly low: number; readonly high: number | null } | null => {
  if (first.passed === 0 && second.passed === 0) return null
  let most = 1
  while (most < MOST_RATIO && ratioScore(first, second, most) > -z) most *= 2
  return {
    low: first.passed === 0 ? 0 : halved(0, most, (ratio) => ratioScore(first, second, ratio) <= z),
    high: second.passed === 0 ? null : halved(0, most, (ratio) => ratioScore(first, second, ratio) <= -z)
  }
}

/** A ratio that no interval needs to exceed: shares of whole numbers below 2^26. */
const MOST_RATIO = 2 ** 52

/**
 * True for a share below four fifths of another, without rounding: exactly four fifths is not below.
 *
 * - Formula: `5 x1 n0 < 4 x0 n1`.
 * - Source: Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4(D).
 */
export const isBelowFourFifths = (share: Share, base: Share): boolean =>
  5n * BigInt(share.passed) * BigInt(base.trials) < 4n * BigInt(base.passed) * BigInt(share.trials)
