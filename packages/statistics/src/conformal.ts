/** Thresholds with a bound on how often they are exceeded, from scores of the past. */

/**
 * Which of `n` scores in ascending order is the threshold, counted from 1: a further score that is exchangeable with
 * them exceeds it with a probability of at most `alphaBp`. Null where `n` scores are too few for that bound.
 *
 * - Unit: `alphaBp` in hundredths of a percent, 1 to 9,999.
 * - Formula: `k = ceil((n + 1)(1 - alpha))`, in integers; null where `k > n`.
 * - Source: Papadopoulos, Proedrou, Vovk and Gammerman, Inductive Confidence Machines, 2002; Vovk, Gammerman and
 *   Shafer, Algorithmic Learning in a Random World, 2005.
 */
export const conformalRank = (n: number, alphaBp: number): number | null => {
  const rank = Number((BigInt(n + 1) * BigInt(10_000 - alphaBp) + 9_999n) / 10_000n)
  return n < 1 || rank > n ? null : rank
}

/** The fewest scores that have a rank for a bound: `ceil((1 - alpha) / alpha)`. Unit: hundredths of a percent. */
export const fewestScores = (alphaBp: number): number => Math.ceil((10_000 - alphaBp) / alphaBp)

/**
 * The smallest threshold that further scores exceed with a probability of at most `alphaBp`; null where the scores are
 * too few. See {@link conformalRank}.
 */
export const conformalThreshold = (scores: ReadonlyArray<number>, alphaBp: number): number | null => {
  const rank = conformalRank(scores.length, alphaBp)
  return rank === null ? null : scores.toSorted((a, b) => a - b)[rank - 1]!
}
