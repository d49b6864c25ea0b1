/**
 * The windows that an evaluation added to, by its seq, until the windows have dropped it. A record that settles or
 * voids it names no window.
 */
import type { WindowLedger } from "./window-ledger.ts"

/** Rows in front that may be past before the rest moves up. */
const PAST_ROWS = 1_024

/** A list in columns, in the order of seqs. */
export class ReservedWindows {
  #seqs: Array<number> = []
  #meters: Array<string> = []
  #ledgers: Array<WindowLedger> = []
  #first = 0

  add(seq: number, meter: string, ledger: WindowLedger): void {
    this.#seqs.push(seq)
    this.#meters.push(meter)
    this.#ledgers.push(ledger)
  }

  /** Calls with each meter that an evaluation added to, and its window. */
  each(seq: number, visit: (meter: string, ledger: WindowLedger) => void): void {
    const seqs = this.#seqs
    let row = this.#first
    for (let high = seqs.length; row < high;) {
      const middle = (row + high) >>> 1
      if (seqs[middle]! < seq) row = middle + 1
      else high = middle
    }
    for (; seqs[row] === seq; row++) visit(this.#meters[row]!, this.#ledgers[row]!)
  }

  /** Drops the first entries whose windows have dropped them. */
  forget(): void {
    while (this.#first < this.#seqs.length && !this.#ledgers[this.#first]!.holds(this.#seqs[this.#first]!))
      this.#first++
    if (this.#first < PAST_ROWS || this.#first * 2 < this.#seqs.length) return
    this.#seqs = this.#seqs.slice(this.#first)
    this.#meters = this.#meters.slice(this.#first)
    this.#ledgers = this.#ledgers.slice(this.#first)
    this.#first = 0
  }
}
