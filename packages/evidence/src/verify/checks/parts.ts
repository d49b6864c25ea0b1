/** D and E lines against the records before them. Spec: format 1 sections 3, 5 and 6. */
import { equalBytes } from "../../bytes.ts"
import { HASH_BYTES } from "../../pack/format.ts"
import type { Findings } from "../findings.ts"
import { Unreadable } from "../../pack/unreadable.ts"
import type { PackFacts } from "../pack-facts.ts"
import type { PackCursor } from "../pack-lines.ts"
import type { CommittedPart, PartWalk } from "./committed-parts.ts"
import { comparePart } from "./committed-parts.ts"
import type { Erasures } from "./erasures.ts"
import { base64Field, nameField, numberField, partField, requireFields } from "./fields.ts"
import type { RecordChecks } from "./records.ts"

/** A D line: the part, and the salt of its commitment. */
export const readDisclosedLine = (lines: PackCursor) => {
  const fields = lines.fields()
  requireFields(fields, 4, "D <seq> <name> <salt> <part>")
  const seq = numberField(fields, 0, "the seq of a record")
  const name = nameField(fields, 1)
  const salt = base64Field(fields, 2, "a salt")
  if (salt.length !== HASH_BYTES)
    throw new Unreadable("E_FORMAT", `a salt of ${HASH_BYTES} bytes`, `${salt.length} bytes`)
  return { seq, name, salt, part: partField(fields, 3) }
}

/** An E line: the part, and the record that erased it. */
export const readErasedLine = (lines: PackCursor) => {
  const fields = lines.fields()
  requireFields(fields, 3, "E <seq> <name> <erasing seq>")
  const seq = numberField(fields, 0, "the seq of a record")
  const name = nameField(fields, 1)
  return { seq, name, erasingSeq: numberField(fields, 2, "the seq of the erasing record") }
}

/**
 * Matches D and E lines with the parts of the records. All three have the same order, so one walk over the parts is
 * enough.
 * The walk starts only when a line or an erasure needs it.
 */
export class PartChecks {
  /** Parts whose D line has the bytes that the record commits to. */
  disclosed = 0
  /** Records that are out of order have no parts to match in order. The lines are then not judged. */
  readonly skipped: boolean
  /** Parts of the pack that have a D line, good or bad. */
  #withLine = 0
  readonly #findings: Findings
  readonly #erasures: Erasures
  readonly #partCount: number
  readonly #startWalk: () => PartWalk
  #walk: PartWalk | null = null
  /** The part that the walk has reached. */
  #current: CommittedPart | null = null
  #ended = false
  #nextErasure = 0
  #lastSeq = -1
  #lastName = ""

  constructor({ erasures, findings }: PackFacts, { outOfOrder, partCount }: RecordChecks, startWalk: () => PartWalk) {
    this.#findings = findings
    this.#erasures = erasures
    this.#partCount = partCount
    this.skipped = outOfOrder
    this.#startWalk = startWalk
  }

  /** Checks a D line, given the commitment to what it discloses. */
  async disclose(line: number, seq: number, name: string, commitment: Uint8Array): Promise<void> {
    if (this.skipped) return
    const mismatch = (expected: string, found: string): void =>
      this.#findings.add("E_PART_MISMATCH", { line, seq, expected, found })
    if (!this.#inOrder(seq, name)) {
      return mismatch(
        "one D line for each part, in order of seq and name",
        `part ${name} a second time or out of order`
      )
    }
    const committed = await this.#find(seq, name)
    if (committed === null)
      return mismatch("a part that a record of the pack commits to", `part ${name}, which none has`)
    this.#withLine++
    if (!this.#erasures.isEmpty) for (const erasure of this.#erasures.of(seq, name)) erasure.disclosed = true
    if (equalBytes(commitment, committed.commitment)) this.disclosed++
    else mismatch(`the bytes of part ${name} that the record commits to`, "other bytes, or another salt")
  }

  /** Ends the D lines, and finds the parts that erasures name. */
  async endDisclosed(): Promise<void> {
    if (this.skipped) return
    const last = this.#erasures.inOrder().at(-1)
    if (last !== undefined) await this.#find(last.seq, last.name)
    this.#lastSeq = -1
    this.#lastName = ""
  }

  /** Checks an E line. */
  erase(line: number, seq: number, name: string, erasingSeq: number): void {
    if (this.skipped) return
    const unexplained = (expected: string, found: string): void =>
      this.#findings.add("E_PART_UNEXPLAINED", { line, seq, expected, found })
    if (!this.#inOrder(seq, name)) {
      return unexplained(
        "one E line for each part, in order of seq and name",
        `part ${name} a second time or out of order`
      )
    }
    const erasure = this.#erasures.of(seq, name).find((one) => one.erasingSeq === erasingSeq)
    if (erasure === undefined) {
      const erasing = `record ${erasingSeq} in the pack, of kind part.erased`
      const expected = `${erasing}, later than record ${seq}, naming part ${name}`
      return unexplained(expected, "no such record")
    }
    if (!erasure.exists)
      return unexplained("a part that a record of the pack commits to", `part ${name}, which none has`)
    if (erasure.disclosed) unexplained("one line for each part", `part ${name} both disclosed and erased`)
  }

  /** Parts that are neither disclosed nor erased. Read it after the last line. */
  get withheld(): number {
    return this.skipped ? 0 : this.#partCount - this.#withLine - this.#erasures.count()
  }

  /** Parts that were erased and are not disclosed. Read it after the last line. */
  get erased(): number {
    return this.skipped ? 0 : this.#erasures.count()
  }

  /** Ends the walk. */
  async close(): Promise<void> {
    await this.#walk?.return?.()
  }

  #inOrder(seq: number, name: string): boolean {
    if (comparePart(this.#lastSeq, this.#lastName, seq, name) >= 0) return false
    this.#lastSeq = seq
    this.#lastName = name
    return true
  }

  /** Walks up to a part; null when no record has it. Marks the erasures that name a part on the way. */
  async #find(seq: number, name: string): Promise<CommittedPart | null> {
    const walk = (this.#walk ??= this.#startWalk())
    while (!this.#ended) {
      const current = this.#current
      const order = current === null ? -1 : comparePart(current.seq, current.name, seq, name)
      if (order >= 0) return order === 0 ? current : null
      const next = await walk.next()
      this.#current = next.done === true ? null : next.value
      this.#ended = next.done === true
      if (this.#current !== null) this.#markErased(this.#current)
    }
    return null
  }

  #markErased({ name, seq }: CommittedPart): void {
    const all = this.#erasures.inOrder()
    for (; this.#nextErasure < all.length; this.#nextErasure++) {
      const one = all[this.#nextErasure]!
      const order = comparePart(one.seq, one.name, seq, name)
      if (order > 0) return
      if (order === 0) one.exists = true
    }
  }
}
