/**
 * The parts that the records of a pack commit to, in the order of seq and name. D and E lines come after all records,
 * in
 * the same order, so one walk over these parts answers them all.
 */
import { MAX_LINE_BYTES } from "../../pack/format.ts"
import { LineReader } from "../../pack/line-reader.ts"
import { RecordScanner } from "../../record/scan.ts"
import type { PackChunks } from "../pack-lines.ts"

/** A part as its record states it. The commitment has 32 bytes and is valid until the walk continues. */
export interface CommittedPart {
  readonly seq: number
  readonly name: string
  readonly commitment: Uint8Array
}

/** A walk over the parts. */
export type PartWalk = Iterator<CommittedPart> | AsyncIterator<CommittedPart>

/** Order of parts: by record, then by name. Names are ASCII. */
export const comparePart = (seqA: number, nameA: string, seqB: number, nameB: string): number =>
  seqA !== seqB ? seqA - seqB : nameA === nameB ? 0 : nameA < nameB ? -1 : 1

/** Keeps the parts in memory, about 50 bytes each, for a pack that cannot be read again. */
export class PartMemory {
  readonly #seqs: Array<number> = []
  readonly #names: Array<string> = []
  /** One text for each name, however often it occurs. */
  readonly #knownNames = new Map<string, string>()
  #commitments = new Uint8Array(32 * 1024)

  /** Adds the parts of the record that was scanned last. */
  add(scanner: RecordScanner): void {
    for (let i = 0; i < scanner.partCount; i++) {
      const at = 32 * this.#seqs.length
      if (at === this.#commitments.length) this.#grow()
      this.#commitments.set(scanner.partCommitment(i), at)
      this.#seqs.push(scanner.seq)
      this.#names.push(this.#known(scanner.partName(i)))
    }
  }

  /** Walks over all parts that were added. */
  *parts(): Generator<CommittedPart, void> {
    for (const [i, seq] of this.#seqs.entries()) {
      yield { seq, name: this.#names[i]!, commitment: this.#commitments.subarray(32 * i, 32 * i + 32) }
    }
  }

  #known(name: string): string {
    const known = this.#knownNames.get(name)
    if (known !== undefined) return known
    if (this.#knownNames.size < MAX_KNOWN_NAMES) this.#knownNames.set(name, name)
    return name
  }

  #grow(): void {
    const grown = new Uint8Array(2 * this.#commitments.length)
    grown.set(this.#commitments)
    this.#commitments = grown
  }
}

/** A hostile pack may have a new name for each part. */
const MAX_KNOWN_NAMES = 10_000

/** Reads a pack again whose records a first pass has checked, and walks over their parts. Memory stays flat. */
export async function* readPartsAgain(chunks: PackChunks): AsyncGenerator<CommittedPart, void> {
  const reader = new LineReader(null, MAX_LINE_BYTES)
  const scanner = new RecordScanner()
  for await (const chunk of chunks) {
    reader.feed(chunk)
    while (reader.next()) {
      const tag = reader.bytes[reader.start]!
      if (AFTER_RECORDS.has(tag)) return
      if (tag !== LETTER_R || scanner.scan(reader.bytes, reader.start + 2, reader.end) !== null) continue
      for (let i = 0; i < scanner.partCount; i++) {
        yield { seq: scanner.seq, name: scanner.partName(i), commitment: scanner.partCommitment(i) }
      }
    }
    if (reader.tooLong) return
  }
}

const LETTER_R = 0x52
/** D, E and Z. */
const AFTER_RECORDS: ReadonlySet<number> = new Set([0x44, 0x45, 0x5a])
