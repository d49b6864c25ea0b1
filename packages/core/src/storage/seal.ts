/** Turning drafts into sealed records: the one place that adds `at`, `prev`, `seq`, salts and commitments. */
import type { Crypto } from "@flyball/evidence"
import { encodeRecord, formatInstant, toHex } from "@flyball/evidence"
import type { Head, RecordDraft, StoredRecord } from "./port.ts"
import { storeTimeMs } from "./store-time.ts"

/** Bytes of one salt. Spec: chain-format section 3. */
export const saltBytes = 32

/** `prev` of record 0, and the hash of {@link emptyHead}. */
const zeroHash = (): Uint8Array => new Uint8Array(32)

/** The head that a commit without records answers while the chain is empty. */
export const emptyHead = (): Head => ({ seq: -1, hash: zeroHash(), atMs: 0 })

/** A part with the salt that its commitment was made with. */
export interface SealedPart {
  readonly name: string
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

/** A sealed record and its parts, ready to be stored. */
export interface SealedRecord {
  readonly record: StoredRecord
  readonly parts: ReadonlyArray<SealedPart>
}

/** How many salts these drafts need: one for each part. */
export const partCount = (drafts: ReadonlyArray<RecordDraft>): number =>
  drafts.reduce((sum, draft) => sum + draft.parts.length, 0)

/**
 * The salts of those drafts that are kept, joined, out of the salts drawn for all of them.
 *
 * Salts are drawn for every draft, also for one that turns out to be a duplicate, so that equal seeds give equal bytes
 * on every store.
 */
export const selectSalts = (
  drafts: ReadonlyArray<RecordDraft>,
  salts: Uint8Array,
  kept: (index: number) => boolean
): Uint8Array => {
  const out = new Uint8Array(partCount(drafts.filter((_, index) => kept(index))) * saltBytes)
  let from = 0
  let to = 0
  drafts.forEach((draft, index) => {
    const length = draft.parts.length * saltBytes
    if (kept(index)) {
      out.set(salts.subarray(from, from + length), to)
      to += length
    }
    from += length
  })
  return out
}

/**
 * Seals drafts onto the head, in order. Pure.
 *
 * - Unit: `salts` is 32 bytes for each part, in order of drafts, then of parts.
 * - `at` is `nowMs`, or the head's where the clock stepped back: it never decreases.
 * - Fails: throws `RecordUnwritable` where a draft breaks the format (the planner's bug); nothing is half done then.
 * - Spec: chain-format sections 1 to 3.
 */
export const sealDrafts = (
  crypto: Crypto,
  head: Head | null,
  nowMs: number,
  drafts: ReadonlyArray<RecordDraft>,
  salts: Uint8Array
): ReadonlyArray<SealedRecord> => {
  // Nothing is sealed at a time that has no form; a change of working state may come at one.
  if (drafts.length === 0) return []
  const atMs = storeTimeMs(nowMs, head)
  const at = formatInstant(atMs)
  let seq = head === null ? 0 : head.seq + 1
  let prev = head === null ? zeroHash() : head.hash
  let salted = 0
  return drafts.map((draft) => {
    const parts = draft.parts.map(({ name, bytes }) => {
      const salt = salts.slice(salted * saltBytes, ++salted * saltBytes)
      return { name, salt, bytes: bytes.slice() }
    })
    const bytes = encodeRecord({
      at,
      body: draft.body,
      kind: draft.kind,
      parts: parts.map((part) => ({ name: part.name, c: toHex(crypto.commitment(part.salt, part.name, part.bytes)) })),
      prev: toHex(prev),
      seq
    })
    const hash = crypto.leafHash(bytes)
    const record: StoredRecord = { seq, bytes, hash, kind: draft.kind, agentId: draft.agentId, atMs }
    seq += 1
    prev = hash
    return { record, parts }
  })
}
