/** Exact sums of amounts up to 2^53 - 1 each: two columns of a series, whose sums stay below 2^53. */
import { type Range, Series } from "./series.ts"

const LOW = 2 ** 26

/** Amounts over time. */
export class Amounts {
  readonly #series = new Series(2)

  /** Adds an amount; answers its position. */
  add(seq: number, atMs: number, amount: number): number {
    return this.#series.add(seq, atMs, [Math.floor(amount / LOW), amount % LOW])
  }

  /** Replaces an amount, from the record `seq` on. */
  replace(position: number, seq: number, before: number, after: number): void {
    this.#series.correct(position, seq, 0, Math.floor(after / LOW) - Math.floor(before / LOW))
    this.#series.correct(position, seq, 1, (after % LOW) - (before % LOW))
  }

  /** The sum of a window and the samples in it. Unit: milliseconds. */
  within(ms: number, windowMs: number, seq: number): { readonly sum: bigint; readonly range: Range } {
    const range = this.#series.within(ms, windowMs, seq)
    return {
      sum: BigInt(this.#series.sum(0, range, seq)) * BigInt(LOW) + BigInt(this.#series.sum(1, range, seq)),
      range
    }
  }

  /** The record at a position that is held. */
  seqAt(position: number): number {
    return this.#series.seqAt(position)
  }

  /** Positions that are still held. */
  get held(): Range {
    return this.#series.held
  }

  /** Lets go of amounts at or before a time. */
  forget(beforeMs: number): void {
    this.#series.forget(beforeMs)
  }
}
