/**
 * Compares a share with a threshold in integers: plainly, or by the one-sided Wilson bound.
 *
 * The lower Wilson bound of k of n lies at or above p0 exactly where k/n >= p0 and n (k/n - p0)^2 >= z^2 p0 (1 - p0):
 * the bound is the inversion of the score test. Multiplied out, no root and no fraction is left.
 */

/**
 * Confidence levels of the bound, in hundredths of a percent; 0 compares the share itself. Spec: format 1 section 10.
 */
export const confidenceLevels = [0, 9_000, 9_500, 9_900] as const

/** One-sided normal quantiles, in millionths. Spec: SPEC.md of `@flyball/evidence`, breakers. */
export const zMillionths: { readonly [confidenceBp: number]: bigint } = {
  9_000: 1_281_552n,
  9_500: 1_644_854n,
  9_900: 2_326_348n
}

const BP = 10_000n
const MILLION_SQUARED = 1_000_000n ** 2n

/**
 * True when `part` of `whole` is at or above the threshold with this confidence. No samples are below any threshold.
 *
 * - Unit: `thresholdBp` and `confidenceBp` in hundredths of a percent; with a confidence the threshold is under 10,000.
 */
export const isAtOrAbove = (part: number, whole: number, thresholdBp: number, confidenceBp: number): boolean => {
  if (whole === 0) return false
  const [k, n, p0] = [BigInt(part), BigInt(whole), BigInt(thresholdBp)]
  const above = BP * k - p0 * n
  if (above < 0n) return false
  const z = zMillionths[confidenceBp]
  return z === undefined || above * above * MILLION_SQUARED >= z * z * p0 * (BP - p0) * n
}
