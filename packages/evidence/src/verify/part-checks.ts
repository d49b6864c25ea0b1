/** D and E lines against the records before them. Spec: format 1 sections 3, 5 and 6. */
import { equalBytes } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import type { Erasures } from "./erasures.ts"
import type { Findings } from "./findings.ts"
import { comparePart } from "./part-walk.ts"
import type { PartWalk } from "./part-walk.ts"

/**
 * Matches D and E lines with the parts of the records, all in the same order, in one walk.
 *
 * `walk` is asked for once, and only when there is something to match.
 */
export class PartChecks {
  disclosed = 0
  /** Parts of the pack that a D line stands for, whether it fits or not. */
  #withLine = 0
  readonly #crypto: Crypto
  readonly #findings: Findings
  readonly #erasures: Erasures
  readonly #startWalk: () => PartWalk
  #walk: PartWalk | null = null
  /** Whether the walk stands on a part. */
  #standing = false
  #ended = false
  #nextErasure = 0
  #lastSeq = -1
  #lastName = ""

  constructor(crypto: Crypto, findings: Findings, erasures: Erasures, startWalk: () => PartWalk) {
    this.#crypto = crypto
    this.#findings = findings
    this.#erasures = erasures
    this.#startWalk = startWalk
  }

  /** A D line. */
  async disclose(line: number, seq: number, name: string, salt: Uint8Array, part: Uint8Array): Promise<void> {
    if (!this.#inOrder(seq, name)) {
      this.#mismatch(line, seq, "one D line for each part, in order of seq and name", `part ${name} a second time or out of order`)
      return
    }
    const commitment = await this.#find(seq, name)
    if (commitment === null) {
      this.#mismatch(line, seq, "a part that a record of the pack commits to", `part ${name}, which none has`)
      return
    }
    this.#withLine++
    for (const erasure of this.#erasures.of(seq, name)) erasure.disclosed = true
    if (equalBytes(this.#crypto.commitment(salt, name, part), commitment)) this.disclosed++
    else this.#mismatch(line, seq, `the bytes of part ${name} that the record commits to`, "other bytes, or another salt")
  }

  /** The D lines are over: from here on only erasures are asked about. */
  async endDisclosed(): Promise<void> {
    const all = this.#erasures.inOrder()
    const last = all[all.length - 1]
    if (last !== undefined) await this.#find(last.seq, last.name)
    this.#lastSeq = -1
    this.#lastName = ""
  }

  /** An E line. */
  erase(line: number, seq: number, name: string, erasingSeq: number): void {
    const unexplained = (expected: string, found: string): void => this.#findings.add("E_PART_UNEXPLAINED", { line, seq, expected, found })
    if (!this.#inOrder(seq, name)) return unexplained("one E line for each part, in order of seq and name", `part ${name} a second time or out of order`)
    const erasures = this.#erasures.of(seq, name)
    const erasure = erasures.find((one) => one.erasingSeq === erasingSeq)
    if (erasure === undefined) return unexplained(`record ${erasingSeq} in the pack, of kind part.erased, later than record ${seq} and naming part ${name}`, "no such record")
    if (!erasure.exists) return unexplained("a part that a record of the pack commits to", `part ${name}, which none has`)
    if (erasure.disclosed) unexplained("one line for each part", `part ${name} both disclosed and erased`)
  }

  /** Of `total` parts, how many are neither disclosed nor erased. Asked after the last line. */
  withheld(total: number): number {
    return total - this.#withLine - this.#erasures.count()
  }

  #inOrder(seq: number, name: string): boolean {
    if (comparePart(this.#lastSeq, this.#lastName, seq, name) >= 0) return false
    this.#lastSeq = seq
    this.#lastName = name
    return true
  }

  #mismatch(line: number, seq: number, expected: string, found: string): void {
    this.#findings.add("E_PART_MISMATCH", { line, seq, expected, found })
  }

  /** Walks up to a part; null when there is none of that name. Erasures on the way are marked as naming a part that exists. */
  async #find(seq: number, name: string): Promise<Uint8Array | null> {
    const walk = this.#walk ??= this.#startWalk()
    for (;;) {
      if (this.#standing) {
        const order = comparePart(walk.seq, walk.name, seq, name)
        if (order === 0) return walk.commitment
        if (order > 0) return null
      }
      if (this.#ended) return null
      this.#standing = await walk.advance()
      if (this.#standing) this.#markErased(walk.seq, walk.name)
      else this.#ended = true
    }
  }

  #markErased(seq: number, name: string): void {
    const all = this.#erasures.inOrder()
    for (; this.#nextErasure < all.length; this.#nextErasure++) {
      const one = all[this.#nextErasure]!
      const order = comparePart(one.seq, one.name, seq, name)
      if (order > 0) return
      if (order === 0) one.exists = true
    }
  }
}
