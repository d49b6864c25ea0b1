/** The parts of a pack's records from a second reading: memory stays flat, however many there are. */
import { MAX_LINE_BYTES } from "../pack/format.ts"
import { LineReader } from "../pack/line-reader.ts"
import { RecordScanner } from "../record/scan.ts"
import { PartWriter, SegmentWalk } from "./part-segment.ts"
import type { PartWalk } from "./part-walk.ts"

/** Walks over the parts of a pack whose records were all checked in a first reading. */
export const rereadParts = (chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): PartWalk =>
  new RereadWalk(chunks)

class RereadWalk implements PartWalk {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  readonly #reader = new LineReader(null, MAX_LINE_BYTES)
  readonly #scanner = new RecordScanner()
  readonly #writer = new PartWriter()
  /** Over the parts of the chunk that was read last. */
  #walk = new SegmentWalk([])
  #ended = false

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  }

  get seq(): number {
    return this.#walk.seq
  }

  get name(): string {
    return this.#walk.name
  }

  get bytes(): Uint8Array {
    return this.#walk.bytes
  }

  get at(): number {
    return this.#walk.at
  }

  advance(): boolean | Promise<boolean> {
    return this.#walk.advance() || this.#advanceInNext()
  }

  /** Reads chunks until one has a part. */
  async #advanceInNext(): Promise<boolean> {
    while (!this.#ended) {
      const chunk = await this.#chunks.next()
      if (chunk.done === true) break
      this.#reader.feed(chunk.value)
      this.#readRecords()
      this.#walk = new SegmentWalk([this.#writer.take()])
      if (this.#walk.advance()) return true
    }
    this.#ended = true
    return false
  }

  #readRecords(): void {
    const reader = this.#reader
    while (reader.next()) {
      const tag = reader.bytes[reader.start]!
      // Everything behind the records is of no interest; only the first line has another first letter that is lower
      // case.
      if (tag === AFTER_RECORDS_D || tag === AFTER_RECORDS_E || tag === AFTER_RECORDS_Z) {
        this.#ended = true
        return
      }
      if (tag === RECORD && this.#scanner.scan(reader.bytes, reader.start + 2, reader.end) === null)
        this.#writer.add(reader.bytes, this.#scanner)
    }
    this.#ended = reader.tooLong
  }
}

const RECORD = 0x52
const AFTER_RECORDS_D = 0x44
const AFTER_RECORDS_E = 0x45
const AFTER_RECORDS_Z = 0x5a
