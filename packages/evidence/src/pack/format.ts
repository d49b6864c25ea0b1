/** Names, limits and shapes that writer and reader of evidence packs share. Spec: format 1 section 5. */

/** First word of a pack. Spec: format 1 section 5. */
export const PACK_FORMAT = "evidence-pack/v1"
/**
 * Bytes of a line without its newline: a part of 16 MiB in base64, with room. Spec: format 1 section 5, "Limits of a
 * reader".
 */
export const MAX_LINE_BYTES = 24 * 1024 * 1024
/** Bytes of the first line: the format, a space and an origin. It is the first thing read of a hostile file. */
export const MAX_FIRST_LINE_BYTES = 512
/** Bytes of a record. */
export const MAX_RECORD_BYTES = 64 * 1024
/** Bytes of a part. Spec: format 1 sections 3 and 5. */
export const MAX_PART_BYTES = 16 * 1024 * 1024
/** Most key hints of a pack. Spec: format 1 section 5, "Limits of a reader". */
export const MAX_HINTS = 64
/** Bytes of a key hint. One that is of use has a name of at most 255 characters and a key of 33 bytes. */
export const MAX_HINT_BYTES = 4096
/** Hashes on an I, X or S line. A tree of 2^53 records needs fewer. */
export const MAX_PROOF_HASHES = 128
/** Most timestamp tokens of a pack. Spec: format 1 section 5, "Limits of a reader". */
export const MAX_TOKENS = 16
/** Bytes of a hash, and of a salt. */
export const HASH_BYTES = 32

/** How much of the chain a pack holds. Spec: format 1 section 5. */
export type PackKind = "full" | "range" | "sparse"

/** The H line. `from` and `to` are the first and last seq covered. Spec: format 1 section 5. */
export interface PackHeader {
  /** 24 characters, as `at` of a record. */
  readonly created: string
  readonly filter: { readonly [name: string]: unknown }
  readonly from: number
  readonly generator: string
  readonly kind: PackKind
  readonly to: number
  readonly tree_size: number
}

/** The first line of the text that N signs: never a checkpoint's first line, so neither can stand in for the other. */
export const packNoteName = (origin: string): string => `${origin}/${PACK_FORMAT}`
