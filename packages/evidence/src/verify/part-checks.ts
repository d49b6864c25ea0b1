/** D and E lines against the records before them. Spec: format 1 sections 3, 5 and 6. */
import type { Erasures } from "./erasures.ts"
import type { Findings } from "./findings.ts"
import type { PartRun } from "./part-run.ts"
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

  constructor(findings: Findings, erasures: Erasures, startWalk: () => PartWalk) {
    this.#findings = findings
    this.#erasures = erasures
    this.#startWalk = startWalk
  }

  /** D lines, of which the first is line number `line`. */
  async disclose({ commitments, count, nameNumbers, names, seqs }: PartRun, line: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const seq = seqs[i]!
      const name = names[nameNumbers[i]!]!
      if (!this.#inOrder(seq, name)) {
        this.#mismatch(
          line + i,
          seq,
          "one D line for each part, in order of seq and name",
          `part ${name} a second time or out of order`
        )
        continue
      }
      const found = this.#find(seq, name)
      // Waiting for what is there would take longer than all the rest.
      if (!(typeof found === "boolean" ? found : await found)) {
        this.#mismatch(line + i, seq, "a part that a record of the pack commits to", `part ${name}, which none has`)
        continue
      }
      this.#withLine++
      if (!this.#erasures.isEmpty) for (const erasure of this.#erasures.of(seq, name)) erasure.disclosed = true
      if (areEqual(commitments, 32 * i, this.#walk!.bytes, this.#walk!.at)) this.disclosed++
      else
        this.#mismatch(
          line + i,
          seq,
          `the bytes of part ${name} that the record commits to`,
          "other bytes, or another salt"
        )
    }
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
    const unexplained = (expected: string, found: string): void =>
      this.#findings.add("E_PART_UNEXPLAINED", { line, seq, expected, found })
    if (!this.#inOrder(seq, name))
      return unexplained(
        "one E line for each part, in order of seq and name",
        `part ${name} a second time or out of order`
      )
    const erasures = this.#erasures.of(seq, name)
    const erasure = erasures.find((one) => one.erasingSeq === erasingSeq)
    if (erasure === undefined)
      return unexplained(
        `record ${erasingSeq} in the pack, of kind part.erased, later than record ${seq} and naming part ${name}`,
        "no such record"
      )
    if (!erasure.exists)
      return unexplained("a part that a record of the pack commits to", `part ${name}, which none has`)
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

  /**
   * Walks up to a part, and answers whether it is there. Erasures on the way are marked as naming a part that exists.
   */
  #find(seq: number, name: string): boolean | Promise<boolean> {
    const walk = (this.#walk ??= this.#startWalk())
    for (;;) {
      if (this.#standing) {
        const order = comparePart(walk.seq, walk.name, seq, name)
        if (order >= 0) return order === 0
      }
      if (this.#ended) return false
      const moved = walk.advance()
      if (typeof moved !== "boolean") return this.#findOn(moved, seq, name)
      this.#step(moved)
    }
  }

  async #findOn(moved: Promise<boolean>, seq: number, name: string): Promise<boolean> {
    this.#step(await moved)
    return this.#find(seq, name)
  }

  #step(moved: boolean): void {
    this.#standing = moved
    this.#ended = !moved
    if (moved) this.#markErased(this.#walk!.seq, this.#walk!.name)
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

const areEqual = (a: Uint8Array, fromA: number, b: Uint8Array, fromB: number): boolean => {
  let difference = 0
  for (let i = 0; i < 32; i++) difference |= a[fromA + i]! ^ b[fromB + i]!
  return difference === 0
}
