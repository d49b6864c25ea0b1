/** Where things lie in the memory of `record-code.ts`: what a thread needs to know of it. */

/** Records of one run at most. */
export const MAX_RUN = 4096

/** What `run` says beside its answer; 64-bit numbers are `seq` and `lastSeq`. */
export const RUN = {
  seq: 1024,
  lastSeq: 1032,
  prev: 1040,
  recordParts: 1044,
  parts: 1048,
  behind: 1052,
  lastAt: 1056,
  recordPartsAt: 1060
} as const

/** A record as it is hashed: a zero, and room for the longest. */
export const LEAF = 4096
/**
 * Per record, four bytes each: where it begins, where its newline is, where the digits of its prev begin, where its
 * parts begin.
 */
export const TABLE = 72 * 1024
export const ROW = { start: 0, newline: 4, prev: 8, parts: 12, bytes: 16 } as const
/** The hashes of the records, with room behind them for what the tree's lanes hash for nothing. */
export const LEAVES = 140 * 1024
/** The block, and room behind it that stays zero. */
export const BLOCK = 272 * 1024
/** Pages of 64 KB before there is a block. */
export const PAGES = 5
/** Bytes behind a block that the program may look at. */
export const BEHIND_BLOCK = 256
