/** A sequence of tests that may be read at any time: a test martingale over p-values. */

/** The share of its money that each account gives to both with each step. */
const JUMP = 0.1

/**
 * A wager on small p-values: half of the money bets, half is kept, and a little changes the account with each step, so
 * that it bets again after a long time in which there was nothing to win.
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
  #bet = 0.5
  #kept = 0.5

  /** The value: an e-value. */
  get value(): number {
    return this.#bet + this.#kept
  }

  /** Takes the next p-value, above 0 and at most 1. */
  take(p: number): void {
    const given = (JUMP * this.value) / 2
    this.#bet = ((1 - JUMP) * this.#bet + given) / (2 * Math.sqrt(p))
    this.#kept = (1 - JUMP) * this.#kept + given
  }
}
