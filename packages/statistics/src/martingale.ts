/** A test of exchangeability that may be read at any time: a conformal martingale. */

/** The bets: on small p-values, on none, on large ones. */
const BETS = [-1, 0, 1] as const
/** The share of its money that each account gives to all three with each step. */
const JUMP = 0.01

/**
 * The simple jumper: three accounts that bet on p-values of a conformal test, and a little of whose money changes the
 * account with each step.
 *
 * While p-values are independent and uniform, its value is a martingale that begins with 1: an e-value at any time at
 * which one reads it. The chance that it is ever `a` or more is at most `1 / a`.
 *
 * - Formula: each account bets `1 + ε (p - 1/2)`, ε of -1, 0, 1; the value is the sum of the accounts.
 * - Source: Vovk, Testing Randomness Online, Statistical Science 36, 2021, algorithm 1; the bound is Ville's, 1939.
 */
export class SimpleJumper {
  #accounts: readonly [number, number, number] = [1 / 3, 1 / 3, 1 / 3]

  /** The value: an e-value. */
  get value(): number {
    const [a, b, c] = this.#accounts
    return a + b + c
  }

  /** Takes the next p-value, 0 to 1. */
  take(p: number): void {
    const given = (JUMP * this.value) / BETS.length
    const bet = (at: 0 | 1 | 2): number => ((1 - JUMP) * this.#accounts[at] + given) * (1 + BETS[at] * (p - 0.5))
    this.#accounts = [bet(0), bet(1), bet(2)]
  }
}

/** What differs by less is a tie. */
const TIE = 1e-12

/**
 * The conformal p-value of the last score among all: the share of scores that are larger, with ties broken at random.
 *
 * - Formula: `(#{s_j > s} + u #{s_j = s}) / i`, over all `i` scores, its own included.
 * - Shape: `u` is 0 to below 1, and nobody may choose it.
 * - Source: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005, section 2.2.
 */
export const conformalP = (scores: ArrayLike<number>, u: number): number => {
  const own = scores[scores.length - 1]!
  let [larger, equal] = [0, 0]
  for (let at = 0; at < scores.length; at++) {
    if (Math.abs(scores[at]! - own) <= TIE) equal++
    else if (scores[at]! > own) larger++
  }
  return (larger + u * equal) / scores.length
}
