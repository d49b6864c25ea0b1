/**
 * Contributions to one meter and key, oldest first, in columns of numbers: a chain has millions of
 * contributions, and a window of a day holds many at once.
 */

/** Rows that a new ring has room for. A power of two, as its room always is. */
const FIRST_ROOM = 8
const noRoom = new Float64Array(0)

/**
 * Contributions by place. Places only rise: the first contribution has place 0, and dropping it leaves the others where
 * they are. Seqs rise and times do not fall, in the order of addition.
 */
export class WindowRing {
  /** The first place still held, and the one after the last. */
  first = 0
  end = 0
  #seqs = noRoom
  #timesMs = noRoom
  /** NaN where the contribution was removed. */
  #amounts = noRoom

  add(seq: number, atMs: number, amount: number): void {
    if (this.end - this.first === this.#seqs.length) this.#grow()
    const row = this.end++ & (this.#seqs.length - 1)
    this.#seqs[row] = seq
    this.#timesMs[row] = atMs
    this.#amounts[row] = amount
  }

  /** Unit: milliseconds since 1970 UTC. */
  atMs(place: number): number {
    return this.#timesMs[place & (this.#seqs.length - 1)]!
  }

  /** NaN where it was removed. */
  amount(place: number): number {
    return this.#amounts[place & (this.#seqs.length - 1)]!
  }

  setAmount(place: number, amount: number): void {
    this.#amounts[place & (this.#seqs.length - 1)] = amount
  }

  /** The place of the contribution of an evaluation; -1 when it is not here. */
  placeOf(seq: number): number {
    const mask = this.#seqs.length - 1
    let low = this.first
    for (let high = this.end; low < high;) {
      const middle = Math.floor((low + high) / 2)
      if (this.#seqs[middle & mask]! < seq) low = middle + 1
      else high = middle
    }
    return low < this.end && this.#seqs[low & mask] === seq ? low : -1
  }

  /** Drops the first one. */
  drop(): void {
    this.first++
    if (this.first < this.end) return
    // Most windows are of runs that are over: an empty one takes no room.
    this.#seqs = this.#timesMs = this.#amounts = noRoom
  }

  #grow(): void {
    const room = this.#seqs.length
    const moved = (old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(Math.max(FIRST_ROOM, 2 * room))
      for (let place = this.first; place < this.end; place++)
        grown[place & (grown.length - 1)] = old[place & (room - 1)]!
      return grown
    }
    this.#seqs = moved(this.#seqs)
    this.#timesMs = moved(this.#timesMs)
    this.#amounts = moved(this.#amounts)
  }
}
