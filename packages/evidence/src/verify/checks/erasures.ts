/** The parts that records of a pack name as erased. */
import { comparePart } from "./committed-parts.ts"

/** One erasure: `part.erased` at `erasingSeq` names the part. */
export interface Erasure {
  readonly seq: number
  readonly name: string
  readonly erasingSeq: number
  /** The pack holds a record with this part. */
  exists: boolean
  /** A D line discloses it. */
  disclosed: boolean
}

/**
 * Erasures in the order of the parts that they name. There are few: each one was requested by a person.
 */
export class Erasures {
  #all: Array<Erasure> = []
  #sorted = true

  add(seq: number, name: string, erasingSeq: number): void {
    this.#all.push({ seq, name, erasingSeq, exists: false, disclosed: false })
    this.#sorted = false
  }

  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** All erasures, in order. Of two for one part, the earlier one comes first. */
  inOrder(): ReadonlyArray<Erasure> {
    if (!this.#sorted)
      this.#all.sort((a, b) => comparePart(a.seq, a.name, b.seq, b.name) || a.erasingSeq - b.erasingSeq)
    this.#sorted = true
    return this.#all
  }

  /** The erasures of one part. */
  of(seq: number, name: string): ReadonlyArray<Erasure> {
    const all = this.inOrder()
    let low = 0
    let high = all.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const one = all[middle]!
      if (comparePart(one.seq, one.name, seq, name) < 0) low = middle + 1
      else high = middle
    }
    let end = low
    while (end < all.length && all[end]!.seq === seq && all[end]!.name === name) end++
    return all.slice(low, end)
  }

  /** Parts of the pack that were erased and are not disclosed. Each counts once, however often it was erased. */
  count(): number {
    const all = this.inOrder()
    const isRepeated = (i: number): boolean =>
      i > 0 && all[i - 1]!.seq === all[i]!.seq && all[i - 1]!.name === all[i]!.name
    return all.filter((one, i) => one.exists && !one.disclosed && !isRepeated(i)).length
  }
}
