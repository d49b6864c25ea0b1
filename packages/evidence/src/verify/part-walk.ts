/** The parts of a pack's records, in order. D and E lines come later in the same order, so one walk answers them all. */
import { hexValue } from "../bytes.ts"
import type { RecordScanner } from "../record/scan.ts"

/** Steps through the parts of all records. The fields describe the current part. */
export interface PartWalk {
  /** Moves to the next part; false at the end. */
  readonly advance: () => boolean | Promise<boolean>
  readonly seq: number
  readonly name: string
  readonly commitment: Uint8Array
}

/** Calls `each` for every part of the record just scanned: where its name lies, and its commitment in a buffer that is used again. */
export const eachPart = (bytes: Uint8Array, scanner: RecordScanner, each: (nameStart: number, nameEnd: number, commitment: Uint8Array) => void): void => {
  // Behind the kind stands `","parts":[`, then `{"c":"<64 hex>","name":"<name>"},` again and again; the scanner has seen to it.
  let at = scanner.kindEnd + 11
  for (let i = 0; i < scanner.partCount; i++) {
    for (let j = 0; j < 32; j++) commitment[j] = (hexValue[bytes[at + 6 + 2 * j]!]! << 4) | hexValue[bytes[at + 7 + 2 * j]!]!
    const nameEnd = bytes.indexOf(QUOTE, at + 80)
    each(at + 80, nameEnd, commitment)
    at = nameEnd + 3
  }
}

/** Order of parts: by record, then by name. Names are ASCII. */
export const comparePart = (seqA: number, nameA: string, seqB: number, nameB: string): number =>
  seqA !== seqB ? seqA - seqB : nameA < nameB ? -1 : nameA === nameB ? 0 : 1

const QUOTE = 0x22
const commitment = new Uint8Array(32)
