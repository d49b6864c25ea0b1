/**
 * The largest sum of any group within a window: the most repeated action, the run that burns most tokens.
 *
 * Two pointers move along the samples. A reading costs what lies between it and the reading before, not the window.
 */
import { firstAbove } from "./series.ts"

/** Samples that are dropped only together with others. */
const MOST_IDLE = 32

/** The largest group of a window. */
export interface Largest {
  readonly sum: bigint
  readonly samples: number
  readonly fromSeq: number | null
  readonly toSeq: number | null
}

/** Samples of groups. */
export class GroupedWindow {
  #seqs: Array<number> = []
  #times: Array<number> = []
  #groups: Array<string> = []
  #amounts: Array<number> = []
  /** The samples that the sums are made of. */
  #first = 0
  #end = 0
  readonly #sums = new Map<string, bigint>()
  #largest = 0n
  #isLargestKnown = true

  /** Adds a sample behind all others. */
  add(seq: number, atMs: number, group: string, amount: number): void {
    this.#seqs.push(seq)
    this.#times.push(atMs)
    this.#groups.push(group)
    this.#amounts.push(amount)
  }

  /** The largest sum of the window that ends at `ms`, its begin excluded, over records up to `seq`. */
  within(ms: number, windowMs: number, seq: number): Largest {
    const first = firstAbove(this.#times, ms - windowMs)
    const end = Math.max(first, Math.min(firstAbove(this.#times, ms), firstAbove(this.#seqs, seq)))
    // A window that has nothing in common with the one before it is counted again.
    if (first >= this.#end || end <= this.#first) {
      this.#sums.clear()
      this.#largest = 0n
      this.#isLargestKnown = true
      this.#first = this.#end = first
    }
    while (this.#first > first) this.#count(--this.#first, 1n)
    while (this.#end < end) this.#count(this.#end++, 1n)
    while (this.#first < first) this.#count(this.#first++, -1n)
    while (this.#end > end) this.#count(--this.#end, -1n)
    if (!this.#isLargestKnown) {
      this.#largest = 0n
      for (const sum of this.#sums.values()) if (sum > this.#largest) this.#largest = sum
      this.#isLargestKnown = true
    }
    return {
      sum: this.#largest,
      samples: end - first,
      fromSeq: first < end ? this.#seqs[first]! : null,
      toSeq: first < end ? this.#seqs[end - 1]! : null
    }
  }

  /** Lets go of samples at or before a time. */
  forget(beforeMs: number): void {
    const old = Math.min(firstAbove(this.#times, beforeMs), this.#first)
    if (old < MOST_IDLE || old * 2 < this.#seqs.length) return
    this.#seqs = this.#seqs.slice(old)
    this.#times = this.#times.slice(old)
    this.#groups = this.#groups.slice(old)
    this.#amounts = this.#amounts.slice(old)
    this.#first -= old
    this.#end -= old
  }

  #count(index: number, sign: 1n | -1n): void {
    const group = this.#groups[index]!
    const before = this.#sums.get(group) ?? 0n
    const after = before + sign * BigInt(this.#amounts[index]!)
    if (after === 0n) this.#sums.delete(group)
    else this.#sums.set(group, after)
    if (after > this.#largest) this.#largest = after
    else if (sign === -1n && before === this.#largest) this.#isLargestKnown = false
  }
}
