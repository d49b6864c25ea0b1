/** Commitments seen so far: what D and E lines at the end of a pack will ask about. */
import { releaseBytes } from "../bytes.ts"
import type { RecordScanner } from "../record/scan.ts"
import type { PartSegment } from "./part-segment.ts"
import { PartWriter, SegmentWalk } from "./part-segment.ts"
import type { PartWalk } from "./part-walk.ts"

/**
 * Keeps the parts of all records in order. Past `budget` bytes it forgets everything and says so: whoever can read the
 * pack twice need not
 * remember it. With a budget of 0 it keeps nothing from the beginning.
 *
 * - Unit: `budget` in bytes.
 */
export class PartLog {
  /** Parts noted, also after the log gave up. */
  count = 0
  /** Nothing is kept any more. */
  overflowed: boolean
  readonly #budget: number
  readonly #writer = new PartWriter()
  #segments: Array<PartSegment> = []
  /** Bytes of all segments. */
  #kept = 0

  constructor(budget: number) {
    this.#budget = budget
    this.overflowed = budget === 0
  }

  /** Notes the parts of the record just scanned. Records come with rising seq. */
  add(bytes: Uint8Array, scanner: RecordScanner): void {
    this.count += scanner.partCount
    if (this.overflowed) return
    this.#writer.add(bytes, scanner)
    if (this.#writer.used >= SEGMENT_BYTES || this.#kept + this.#writer.used > this.#budget) this.#close()
  }

  /**
   * Notes the parts of the records that come next, which somebody else has counted and packed. Null: counted only, so
   * that nothing here is whole any more.
   */
  append(count: number, segment: PartSegment | null): void {
    this.count += count
    if (this.overflowed || count === 0) return
    if (segment === null) return this.#giveUp()
    this.#close()
    this.#keep(segment)
  }

  /** A walk over what was noted. Several may go on at once, after the last `add`. */
  walk(): PartWalk {
    this.#close()
    return new SegmentWalk(this.#segments)
  }

  #close(): void {
    if (this.#writer.count > 0) this.#keep(this.#writer.take())
  }

  #keep(segment: PartSegment): void {
    this.#kept += segment.bytes.length
    if (this.#kept > this.#budget) this.#giveUp()
    else if (!this.overflowed) this.#segments.push(segment)
  }

  #giveUp(): void {
    this.overflowed = true
    for (const { bytes } of this.#segments) releaseBytes(bytes)
    this.#segments = []
  }
}

const SEGMENT_BYTES = 256 * 1024
