/**
 * The parts of a pack's records, in order. D and E lines come later in the same order, so one walk answers them all.
 */

/** Steps through the parts of all records. The fields describe the current part. */
export interface PartWalk {
  /** Moves to the next part; false at the end. */
  readonly advance: () => boolean | Promise<boolean>
  readonly seq: number
  readonly name: string
  /** The commitment is the 32 bytes at `at`. */
  readonly bytes: Uint8Array
  readonly at: number
}

/** Order of parts: by record, then by name. Names are ASCII. */
export const comparePart = (seqA: number, nameA: string, seqB: number, nameB: string): number =>
  seqA !== seqB ? seqA - seqB : nameA === nameB ? 0 : nameA < nameB ? -1 : 1
