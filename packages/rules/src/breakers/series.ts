/**
 * Samples in the order of their records, and exact sums over any window of them.
 *
 * Sums are kept in Fenwick trees: a sample is added, corrected or summed up in the logarithm of the samples that a
 * window holds, however long the chain is.
 */

/** Samples `first` up to but not including `end`. Positions count from the first sample ever added. */
export interface Range {
  readonly first: number
  readonly end: number
}

interface Correction {
  /** The record that corrects. */
  readonly seq: number
  readonly position: number
  readonly column: number
  readonly delta: number
}

/** Samples that are dropped only together with others. */
const MOST_IDLE = 32

/** The samples of one window. `columns`: numbers of each sample that are summed up. */
export class Series {
  #seqs: Array<number> = []
  #times: Array<number> = []
  readonly #values: Array<Array<number>>
  readonly #trees: Array<Array<number>>
  /** In the order of the records that correct. */
  #corrections: Array<Correction> = []
  /** Dropped samples. */
  #gone = 0

  constructor(columns: number) {
    this.#values = Array.from({ length: columns }, () => [])
    this.#trees = Array.from({ length: columns }, () => [])
  }

  /** Positions that are still held. */
  get held(): Range {
    return { first: this.#gone, end: this.#gone + this.#seqs.length }
  }

  /** Adds a sample behind all others; answers its position. Unit: `atMs` in milliseconds since 1970 UTC. */
  add(seq: number, atMs: number, values: ReadonlyArray<number>): number {
    this.#seqs.push(seq)
    this.#times.push(atMs)
    values.forEach((value, column) => {
      this.#values[column]!.push(value)
      append(this.#trees[column]!, value)
    })
    return this.#gone + this.#seqs.length - 1
  }

  /** Corrects a sample; readings as of an earlier record than `seq` still see it as it was. */
  correct(position: number, seq: number, column: number, delta: number): void {
    const index = position - this.#gone
    if (index < 0 || delta === 0) return
    this.#values[column]![index]! += delta
    for (let at = index + 1; at <= this.#seqs.length; at += at & -at) this.#trees[column]![at - 1]! += delta
    this.#corrections.push({ seq, position, column, delta })
  }

  /** The samples of the window that ends at `ms`, its begin excluded, as far as records up to `seq` hold them. */
  within(ms: number, windowMs: number, seq: number): Range {
    const first = firstAbove(this.#times, ms - windowMs)
    const end = Math.max(first, Math.min(firstAbove(this.#times, ms), firstAbove(this.#seqs, seq)))
    return { first: this.#gone + first, end: this.#gone + end }
  }

  /** The sum of a column over a range, as records up to `seq` have it. */
  sum(column: number, { end, first }: Range, seq: number): number {
    let total = this.#before(column, end) - this.#before(column, first)
    for (let at = this.#corrections.length - 1; at >= 0; at--) {
      const one = this.#corrections[at]!
      if (one.seq <= seq) break
      if (one.column === column && one.position >= first && one.position < end) total -= one.delta
    }
    return total
  }

  /** The record of a sample that is held. */
  seqAt(position: number): number {
    return this.#seqs[position - this.#gone]!
  }

  /** The time of a sample that is held. Unit: milliseconds since 1970 UTC. */
  timeAt(position: number): number {
    return this.#times[position - this.#gone]!
  }

  /** Lets go of samples at or before a time, once there are enough to make it worth the while. */
  forget(beforeMs: number): void {
    const old = firstAbove(this.#times, beforeMs)
    if (old < MOST_IDLE || old * 2 < this.#seqs.length) return
    this.#seqs = this.#seqs.slice(old)
    this.#times = this.#times.slice(old)
    this.#values.forEach((values, column) => {
      const kept = values.slice(old)
      const tree: Array<number> = []
      for (const value of kept) append(tree, value)
      this.#values[column] = kept
      this.#trees[column] = tree
    })
    this.#gone += old
    this.#corrections = this.#corrections.filter(({ position }) => position >= this.#gone)
  }

  #before(column: number, position: number): number {
    const tree = this.#trees[column]!
    let total = 0
    for (let at = position - this.#gone; at > 0; at -= at & -at) total += tree[at - 1]!
    return total
  }
}

/** Adds a value to a Fenwick tree behind all others. */
const append = (tree: Array<number>, value: number): void => {
  const size = tree.length + 1
  let total = value
  for (let at = size - 1, from = size - (size & -size); at > from; at -= at & -at) total += tree[at - 1]!
  tree.push(total)
}

/** The first place of an ascending list whose number is above a bound. */
export const firstAbove = (ascending: ReadonlyArray<number>, bound: number): number => {
  let low = 0
  for (let high = ascending.length; low < high;) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! <= bound) low = middle + 1
    else high = middle
  }
  return low
}
