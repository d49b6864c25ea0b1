/**
 * Exact tests of counts. They count tables as integers, so that everybody gets the same digits, and compare without
 * rounding.
 */

/** An exact probability: `count` of `of` equally likely cases. */
export interface Probability {
  readonly count: bigint
  readonly of: bigint
}

/** Most trials of a test: binomial coefficients of more have over 3,000 digits. */
export const MAX_TRIALS = 10_000

/**
 * The number of ways to choose `k` of `n`.
 *
 * - Shape: integers, `0 <= n <= 10,000`; 0 where `k` is outside 0 to `n`.
 */
export const choose = (n: number, k: number): bigint => {
  if (k < 0 || k > n) return 0n
  let product = 1n
  for (let i = 1; i <= Math.min(k, n - k); i++) product = (product * BigInt(n - i + 1)) / BigInt(i)
  return product
}

/**
 * Two-sided sign test: the probability of so uneven a split of wins and losses, or a more uneven one, where each is as
 * likely as the other. On paired yes and no answers it is McNemar's exact test.
 *
 * - Formula: `min(1, 2 P(X >= max(wins, losses)))`, X binomial of `wins + losses` trials at 1/2; 1 without trials.
 * - Source: Dixon and Mood, The Statistical Sign Test, 1946; McNemar, 1947, exact form.
 */
export const signTest = (wins: number, losses: number): Probability => {
  const trials = wins + losses
  const of = 1n << BigInt(trials)
  let tail = 0n
  let ways = choose(trials, Math.max(wins, losses))
  for (let k = Math.max(wins, losses); k <= trials; k++) {
    tail += ways
    ways = (ways * BigInt(trials - k)) / BigInt(k + 1)
  }
  return { count: tail * 2n < of ? tail * 2n : of, of }
}

/**
 * Two-sided Fisher test of a table of two rows and two columns: the probability, with the margins fixed, of a table
 * that is at most as likely as this one.
 *
 * - Source: Fisher, Statistical Methods for Research Workers, 1934; two-sided by probability, as R's `fisher.test`.
 */
export const fisherTest = ([[a, b], [c, d]]: readonly [
  readonly [number, number],
  readonly [number, number]
]): Probability => {
  const [row, column, all] = [a + b, a + c, a + b + c + d]
  const waysOf = (x: number): bigint => choose(column, x) * choose(all - column, row - x)
  const seen = waysOf(a)
  let count = 0n
  for (let x = Math.max(0, row + column - all); x <= Math.min(row, column); x++) {
    const ways = waysOf(x)
    if (ways <= seen) count += ways
  }
  return { count, of: choose(all, row) }
}

/** True for a probability that is at most `numerator / denominator`. Exact. */
export const isAtMost = ({ count, of }: Probability, numerator: bigint, denominator: bigint): boolean =>
  count * denominator <= numerator * of

/** Significant digits of {@link decimalOf}. */
const DIGITS = 6

/**
 * A probability as a decimal text of up to six significant digits, rounded down: the same everywhere.
 *
 * - Shape: `0`, `1`, `0.00390625`, or with an exponent below a millionth: `7.17506e-25`.
 */
export const decimalOf = ({ count, of }: Probability): string => {
  if (count <= 0n) return "0"
  if (count >= of) return "1"
  let zeros = 0
  for (let scaled = count * 10n; scaled < of; scaled *= 10n) zeros++
  const digits = String((count * 10n ** BigInt(zeros + DIGITS)) / of).replace(/0+$/, "")
  if (zeros < 6) return `0.${"0".repeat(zeros)}${digits}`
  return `${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e-${zeros + 1}`
}
