/** Tests that may be read at any time: a test martingale over p-values, and one over counts. */

/** The share of what is kept that bets from the next step on, and of what bets that is kept. */
const INTO = 0.1
const BACK = 0.02

/**
 * A wager on small p-values: a tenth of what is kept joins the bet with each step, so that most of it is still there
 * when there is something to win.
 *
 * Its value begins with 1. Where each p-value is that of a permutation test of the newest items against all earlier
 * ones, with ties counted against it, and items are exchangeable, the chance that the value is ever `a` or more is at
 * most `1 / a`, at whatever times one reads it.
 *
 * - Formula: the bet pays `1 / (2 √p)`, which is worth at most 1 under every p-value that is valid.
 * - Source: Vovk, Testing Randomness Online, Statistical Science 36, 2021 (conformal martingales, jumpers); Shafer,
 *   Testing by Betting, 2021, for the bet. The bound is Ville's, 1939.
 */
export class Wager {
  #bet = 0
  #kept = 1

  /** The value: an e-value. */
  get value(): number {
    return this.#bet + this.#kept
  }

  /** Takes the next p-value, above 0 and at most 1. */
  take(p: number): void {
    const [into, back] = [INTO * this.#kept, BACK * this.#bet]
    this.#bet = (this.#bet - back + into) / (2 * Math.sqrt(p))
    this.#kept += back - into
  }
}

/** Odds that the wager on a share bets on: the limit's, times these. */
const ODDS = Array.from({ length: 16 }, (_, at) => Math.SQRT2 ** (at + 1))

/**
 * The natural logarithm of an e-value against "each item counts with a chance of at most `limit`, whatever came before
 * it", after `count` of `items` counted. The chance that it is ever `ln(1 / a)` or more is at most `a`, at whatever
 * times one reads it.
 *
 * - Shape: `limit` above 0 and below 1, `count` at most `items`.
 * - Formula: the mean over 16 shares `q`, whose odds are `√2` to 256 times those of the limit `p`, of
 *   `(q / p)^count ((1 - q) / (1 - p))^(items - count)`. Each factor is worth at most 1 under the claim.
 * - Source: Shafer, Testing by Betting, 2021; Waudby-Smith and Ramdas, Estimating means of bounded random variables by
 *   betting, 2024. The bound is Ville's, 1939.
 */
export const logShareWager = (count: number, items: number, limit: number): number => {
  const odds = limit / (1 - limit)
  const logs = ODDS.map((times) => {
    // ln(1 - q) - ln(1 - p), and ln(q / p) as that plus the logarithm of the odds' ratio.
    const miss = Math.log((1 + odds) / (1 + odds * times))
    return items * miss + count * Math.log(times)
  })
  const largest = Math.max(...logs)
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0) / logs.length)
}
