/** The parts of a pack's records from a second reading: memory stays flat, however many there are. */
import { MAX_LINE_BYTES } from "../pack/format.ts"
import { LineReader } from "../pack/line-reader.ts"
import { RecordScanner } from "../record/scan.ts"
import type { PartWalk } from "./part-walk.ts"

/** Walks over the parts of a pack whose records were all checked in a first reading. */
export const rereadParts = (chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): PartWalk => new RereadWalk(chunks)

class RereadWalk implements PartWalk {
  seq = 0
  name = ""
  commitment: Uint8Array = new Uint8Array(32)
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  readonly #reader = new LineReader(null, MAX_LINE_BYTES)
  readonly #scanner = new RecordScanner()
  /** Parts of the record last read that were not handed out yet, the next one last. */
  readonly #waiting: Array<{ readonly name: string; readonly commitment: Uint8Array }> = []

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  }

  async advance(): Promise<boolean> {
    while (this.#waiting.length === 0) if (!(await this.#readRecord())) return false
    const { commitment, name } = this.#waiting.pop()!
    this.name = name
    this.commitment = commitment
    return true
  }

  /** Reads on to the next record; false when the records are over. */
  async #readRecord(): Promise<boolean> {
    const reader = this.#reader
    while (!reader.next()) {
      const chunk = await this.#chunks.next()
      if (chunk.done === true || reader.tooLong) return false
      reader.feed(chunk.value)
    }
    const tag = reader.bytes[reader.start]!
    // Everything behind the records is of no interest; only the first line has another first letter that is lower case.
    if (tag === AFTER_RECORDS_D || tag === AFTER_RECORDS_E || tag === AFTER_RECORDS_Z) return false
    if (tag !== RECORD || this.#scanner.scan(reader.bytes, reader.start + 2, reader.end) !== null) return true
    this.seq = this.#scanner.seq
    const { bytes } = reader
    const { commitments, count, names } = this.#scanner.partList
    for (let i = 0; i < count; i++) {
      this.#waiting.push({ name: String.fromCharCode(...bytes.subarray(names[2 * i], names[2 * i + 1])), commitment: commitments.slice(32 * i, 32 * i + 32) })
    }
    this.#waiting.reverse()
    return true
  }
}

const RECORD = 0x52
const AFTER_RECORDS_D = 0x44
const AFTER_RECORDS_E = 0x45
const AFTER_RECORDS_Z = 0x5a
