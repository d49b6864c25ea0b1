/** The root of a tree from a run of its leaves, in memory that grows with the height of the tree. */
import type { Crypto } from "../crypto.ts"
import { type NodeCoord, split } from "./coords.ts"
import { emptyRoot, foldRight } from "./fold.ts"

/** Levels of the tallest tree whose leaves a `number` can count. */
const LEVELS = 53

/** A complete subtree and its root. */
interface Subtree extends NodeCoord {
  readonly hash: Uint8Array
}

/**
 * Folds consecutive leaves into subtree roots while they stream by.
 *
 * What lies left and right of the run is given at the end, as a pack gives it: in its S line after the last record.
 * Each level has one
 * cell, 0x01 with room for two hashes: a hash is written straight into the half it belongs to, and a full cell is
 * hashed as it lies.
 *
 * - Spec: format 1 section 5, "Range hashes".
 */
export class RangeFolder {
  readonly #crypto: Crypto
  readonly #from: number
  #next: number
  readonly #cells: Array<Uint8Array> = []
  /** Per level: the left half is filled and waits for its neighbour. */
  readonly #waiting: Array<boolean> = []
  /** Roots whose left neighbour lies before the run: ascending in place and level. */
  readonly #leading: Array<Subtree> = []

  /** `from`: number of the first leaf that will be pushed. */
  constructor(crypto: Crypto, from = 0) {
    this.#crypto = crypto
    this.#from = from
    this.#next = from
  }

  /** Number of the leaf that comes next. */
  get next(): number {
    return this.#next
  }

  /** Adds the hash of the next leaf. The array may be used again afterwards. */
  pushLeaf(hash: Uint8Array): void {
    this.#push(0, this.#next, hash)
    this.#next++
  }

  /**
   * Adds the root of the next 2^level leaves, which start at a multiple of 2^level: what a worker made of its slice.
   */
  pushSubtree(level: number, hash: Uint8Array): void {
    const width = 2 ** level
    if (this.#next % width !== 0)
      throw new RangeError(`A subtree of ${width} leaves cannot start at leaf ${this.#next}.`)
    this.#push(level, this.#next / width, hash)
    this.#next += width
  }

  /**
   * Root of the tree of `size` leaves, given the subtree roots left of the run (`split(0, from)`) and right of it
   * (`split(next, size)`).
   * Null when those are not as many as the numbers say, or not hashes. More leaves may be pushed afterwards.
   */
  root(
    size = this.#next,
    left: ReadonlyArray<Uint8Array> = [],
    right: ReadonlyArray<Uint8Array> = []
  ): Uint8Array | null {
    if (size < this.#next) return null
    const leftCoords = split(0, this.#from)
    const rightCoords = split(this.#next, size)
    if (left.length !== leftCoords.length || right.length !== rightCoords.length) return null
    if (![...left, ...right].every((hash) => hash.length === 32)) return null
    if (size === 0) return emptyRoot(this.#crypto)
    const all: Array<Subtree> = []
    leftCoords.forEach((coord, i) => this.#merge(all, { ...coord, hash: left[i]! }))
    for (const subtree of this.#subtrees()) this.#merge(all, subtree)
    rightCoords.forEach((coord, i) => this.#merge(all, { ...coord, hash: right[i]! }))
    return foldRight(
      this.#crypto,
      all.map((subtree) => subtree.hash)
    )
  }

  #push(level: number, index: number, hash: Uint8Array): void {
    if (hash.length !== 32) throw new RangeError(`A hash has 32 bytes; this one has ${hash.length}.`)
    if (index % 2 === 1 && this.#waiting[level] !== true) {
      this.#leading.push({ level, index, hash: hash.slice() })
      return
    }
    let cell = this.#cell(level)
    // A loop, since a call of `set` costs more than 32 bytes do.
    for (let i = 0, to = index % 2 === 1 ? 33 : 1; i < 32; i++) cell[to + i] = hash[i]!
    while (index % 2 === 1) {
      this.#waiting[level] = false
      level++
      index = (index - 1) / 2
      if (index % 2 === 1 && this.#waiting[level] !== true) {
        this.#leading.push({ level, index, hash: this.#crypto.sha256(cell) })
        return
      }
      const above = this.#cell(level)
      this.#crypto.sha256Into(cell, above, index % 2 === 1 ? 33 : 1)
      cell = above
    }
    this.#waiting[level] = true
  }

  #cell(level: number): Uint8Array {
    const cell = this.#cells[level]
    if (cell !== undefined) return cell
    if (level > LEVELS) throw new RangeError(`A tree has at most ${LEVELS} levels.`)
    while (this.#cells.length <= level) {
      const made = new Uint8Array(65)
      made[0] = 1
      this.#cells.push(made)
      this.#waiting.push(false)
    }
    return this.#cells[level]!
  }

  /** The complete subtrees of the run, in ascending order of their leaves. */
  #subtrees(): ReadonlyArray<Subtree> {
    const waiting: Array<Subtree> = []
    for (let level = this.#cells.length - 1; level >= 0; level--) {
      if (!this.#waiting[level]) continue
      // The waiting subtrees of lower levels lie to the right of this one.
      const index = Math.floor(this.#next / 2 ** (level + 1)) * 2
      waiting.push({ level, index, hash: this.#cells[level]!.slice(1, 33) })
    }
    return [...this.#leading, ...waiting]
  }

  /** Adds a subtree behind the others; two neighbours of one level whose left index is even become one. */
  #merge(all: Array<Subtree>, added: Subtree): void {
    let { level, index, hash } = added
    for (
      let last = all.at(-1);
      last !== undefined && index % 2 === 1 && last.level === level && last.index === index - 1;
      last = all.at(-1)
    ) {
      hash = this.#crypto.nodeHash(last.hash, hash)
      index = (index - 1) / 2
      level++
      all.pop()
    }
    all.push({ level, index, hash })
  }
}
