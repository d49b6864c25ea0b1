/** Which records of a chain were named, one bit for each: what a decision or an evaluation may come to only once. */

/** Seqs of one piece. A power of two. */
const PIECE = 65_536

/** A set of seqs. Takes as much as the chain is long, by 8. */
export class SeenSeqs {
  readonly #pieces = new Map<number, Uint8Array>()

  /** Adds a seq; answers false where it was there. */
  add(seq: number): boolean {
    const key = Math.floor(seq / PIECE)
    const piece = this.#pieces.get(key) ?? new Uint8Array(PIECE / 8)
    this.#pieces.set(key, piece)
    const bit = 1 << (seq & 7)
    const place = (seq % PIECE) >>> 3
    if ((piece[place]! & bit) !== 0) return false
    piece[place]! |= bit
    return true
  }
}
