/**
 * Turning drafts into sealed records: the one place that adds `at`, `prev`, `seq`, salts and commitments.
 *
 * It is free of Effect: every store runs it, also in a worker thread. It takes two steps, so that a store which locks
 * its head need not hash parts under the lock.
 */
import type { Crypto, Slices } from "@flyball/evidence"
import { encodeRecordText, formatInstant, inOneGo, recordBodyText, toHex } from "@flyball/evidence"
import type { Head, PartDraft, RecordDraft, StoredRecord } from "./port.ts"
import { storeTimeMs } from "./store-time.ts"

/** Bytes of one salt. Spec: chain-format section 3. */
export const saltBytes = 32

/** `prev` of record 0, and the hash of {@link emptyHead}. */
const zeroHash = (): Uint8Array => new Uint8Array(32)

/** The head that a commit without records returns while the chain is empty. */
export const emptyHead = (): Head => ({ seq: -1, hash: zeroHash(), atMs: 0 })

/** A part with the salt that its commitment was made with. Spec: format 1 section 3. */
export interface SealedPart {
  readonly name: string
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

/** A part with its commitment as hex digits. */
export interface CommittedPart extends SealedPart {
  readonly c: string
}

/** A draft whose body is canonical text. */
export type DraftText = Pick<RecordDraft, "kind" | "agentId"> & {
  readonly bodyText: string
  readonly parts: ReadonlyArray<Pick<PartDraft, "name" | "bytes">>
}

/** A draft of which only `at`, `prev` and `seq` are missing. */
export interface CommittedDraft extends DraftText {
  readonly parts: ReadonlyArray<CommittedPart>
}

/** A sealed record and its parts, ready to be stored. Spec: format 1 section 1. */
export interface SealedRecord {
  readonly record: StoredRecord
  readonly parts: ReadonlyArray<SealedPart>
}

/** Number of salts that these drafts need: one for each part. */
export const partCount = (drafts: ReadonlyArray<RecordDraft>): number =>
  drafts.reduce((sum, draft) => sum + draft.parts.length, 0)

/**
 * The canonical text of a draft's body.
 *
 * - Fails: throws `RecordUnwritable` where the body breaks the format (the planner's bug).
 * - Spec: format 1 section 1.
 */
export const bodyTextOf = ({ body, kind }: RecordDraft): string => recordBodyText(kind, body)

/**
 * Commits to the parts of one draft. Pure. The arrays of the parts are held on to, and `salts` is viewed.
 *
 * - Unit: `salts` is 32 bytes for each part, in order.
 * - Spec: chain-format section 3.
 */
export const commitDraft = (
  crypto: Crypto,
  { agentId, bodyText, kind, parts }: DraftText,
  salts: Uint8Array
): CommittedDraft => ({
  agentId,
  bodyText,
  kind,
  parts: parts.map(({ bytes, name }, index) => {
    const salt = salts.subarray(index * saltBytes, (index + 1) * saltBytes)
    return { name, salt, bytes, c: toHex(crypto.commitment(salt, name, bytes)) }
  })
})

/** Bytes of parts that are hashed in one slice, about two milliseconds' work; a draft counts as {@link DRAFT_BYTES}. */
const SLICE_BYTES = 262_144
/** Cost of a draft besides its parts, in bytes of parts that take as long. */
const DRAFT_BYTES = 2_048

/**
 * Commits to the parts of many drafts. Copies the arrays of the drafts and of `salts`: those of the drafts as it comes
 * to them, so a caller must not change them meanwhile.
 *
 * Salts are drawn for every draft, also for one that turns out to be a duplicate, so that equal seeds give equal bytes
 * on every store.
 *
 * - Unit: `salts` is 32 bytes for each part, in order of drafts, then of parts.
 * - Fails: throws `RecordUnwritable` where a body breaks the format (the planner's bug).
 * - Spec: format 1 section 3.
 */
export function* commitDraftsInSlices(
  crypto: Crypto,
  drafts: ReadonlyArray<RecordDraft>,
  salts: Uint8Array
): Slices<ReadonlyArray<CommittedDraft>> {
  const committed: Array<CommittedDraft> = []
  let salted = 0
  let left = SLICE_BYTES
  for (const draft of drafts) {
    if (left <= 0) {
      left = SLICE_BYTES
      yield
    }
    const text = {
      agentId: draft.agentId,
      bodyText: bodyTextOf(draft),
      kind: draft.kind,
      parts: draft.parts.map(({ bytes, name }) => ({ name, bytes: bytes.slice() }))
    }
    committed.push(commitDraft(crypto, text, salts.slice(salted, (salted += draft.parts.length * saltBytes))))
    left -= DRAFT_BYTES
    for (const { bytes } of text.parts) left -= bytes.length
  }
  return committed
}

/** {@link commitDraftsInSlices} without a pause. */
export const commitDrafts = (
  crypto: Crypto,
  drafts: ReadonlyArray<RecordDraft>,
  salts: Uint8Array
): ReadonlyArray<CommittedDraft> => inOneGo(commitDraftsInSlices(crypto, drafts, salts))

/**
 * Seals drafts onto the head, in order. Pure.
 *
 * - `at` is `nowMs`, or the head's where the clock stepped back: it never decreases.
 * - Fails: throws `RecordUnwritable` where a draft breaks the format (the planner's bug); nothing is half done then.
 * - Spec: chain-format sections 1 to 3.
 */
export const sealDrafts = (
  crypto: Crypto,
  head: Head | null,
  nowMs: number,
  drafts: ReadonlyArray<CommittedDraft>
): ReadonlyArray<SealedRecord> => {
  // Nothing is sealed at a time that has no form; a change of working state may come at one.
  if (drafts.length === 0) return []
  const atMs = storeTimeMs(nowMs, head)
  const at = formatInstant(atMs)
  let seq = head === null ? 0 : head.seq + 1
  let prev = head === null ? zeroHash() : head.hash
  return drafts.map(({ agentId, bodyText, kind, parts }) => {
    const bytes = encodeRecordText({ at, bodyText, kind, parts, prev: toHex(prev), seq })
    const hash = crypto.leafHash(bytes)
    const record: StoredRecord = { seq, bytes, hash, kind, agentId, atMs }
    seq += 1
    prev = hash
    return { record, parts }
  })
}
