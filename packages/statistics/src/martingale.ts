/** A sequence of tests that may be read at any time: a test martingale over p-values. */

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
