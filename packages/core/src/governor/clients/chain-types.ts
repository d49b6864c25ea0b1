/**
 * The chain as a host without Effect sees it, as plain TypeScript: records, proofs, keys, erasures, packs, checks.
 *
 * They say the same as the schemas of `@flyball/contract`; a test holds the two together. Names are the interface's, so
 * that what is documented for HTTP
 * holds here. Nothing in this file imports anything.
 */

/** The last record and the tree over all of them. */
export interface HeadInfo {
  readonly seq: number
  readonly record_hash: string
  readonly tree_size: number
  readonly root_hash: string
  /** The newest signed note, which may be of a smaller tree; null before the first. */
  readonly checkpoint: string | null
}

/** What recomputing a stretch of the chain found. */
export interface VerifyInfo {
  readonly ok: boolean
  readonly checked: number
  readonly from: number
  readonly to: number
  readonly head: HeadInfo
  readonly first_bad_seq: number | null
  readonly findings: ReadonlyArray<{
    readonly code: string
    readonly seq: number | null
    readonly expected: string
    readonly found: string
  }>
  readonly checkpoint: { readonly tree_size: number; readonly root_hash: string; readonly ok: boolean } | null
  readonly duration_ms: number
}

/** A sealed record: the exact bytes that were hashed. */
export interface RecordInfo {
  readonly seq: number
  readonly kind: string
  readonly agent_id: string | null
  readonly at: string
  readonly record_hash: string
  readonly bytes: Uint8Array
}

/** Which records to read, oldest first. */
export interface RecordFilter {
  readonly from?: number | undefined
  /** 1 to 1,000, default 100. */
  readonly limit?: number | undefined
  readonly kind?: string | undefined
  readonly agent_id?: string | undefined
}

/** That a record is in the tree of this size. */
export interface ProofInfo {
  readonly seq: number
  readonly record_hash: string
  readonly tree_size: number
  readonly root_hash: string
  readonly proof: ReadonlyArray<string>
  readonly checkpoint: string | null
}

/** That the tree of `to` records begins with that of `from`. */
export interface ConsistencyInfo {
  readonly from: number
  readonly to: number
  readonly from_root: string
  readonly to_root: string
  readonly proof: ReadonlyArray<string>
}

/** A key that signs, or signed, for the chain. */
export interface KeyInfo {
  readonly vkey: string
  readonly key_id: string
  readonly name: string
  readonly since_seq: number
  readonly current: boolean
}

/** Which part to erase, and why. */
export interface ErasureInput {
  readonly seq: number
  readonly name: string
  readonly reason: "subject_request" | "legal_order" | "retention" | "captured_by_mistake" | "security"
}

/** The record that says a part was erased. */
export interface ErasureInfo {
  readonly seq: number
  readonly record_hash: string
  readonly erased: { readonly seq: number; readonly name: string; readonly reason: string }
}

/** What an evidence pack is to hold. */
export interface PackInput {
  readonly kind: "full" | "range" | "sparse"
  readonly from?: number | null | undefined
  readonly to?: number | null | undefined
  readonly agent_id?: string | null | undefined
  readonly run_id?: string | null | undefined
  readonly kinds?: ReadonlyArray<string> | null | undefined
  readonly since?: string | null | undefined
  readonly until?: string | null | undefined
  /** Which parts are shown; default `none`. */
  readonly disclose?: "none" | "all" | ReadonlyArray<string> | null | undefined
}

/** A signed tree head. */
export interface CheckpointInfo {
  readonly size: number
  /** `sha256:<hex>`. */
  readonly root_hash: string
  /** The signed note. */
  readonly note: string
}

/** A rotation of the signing key. */
export interface RotationInfo {
  /** Of the record `key.rotated`. */
  readonly seq: number
  readonly from_vkey: string
  readonly to_vkey: string
  /** The first checkpoint that covers the record, signed by both keys. */
  readonly checkpoint: CheckpointInfo
}

/** What comparing records and documents found. */
export interface CheckInfo {
  readonly ok: boolean
  readonly records: number
  readonly documents: number
  /** Idempotency keys compared with their records. Differences are under the collection `once`, by record number. */
  readonly onceKeys: number
  /** What a store holds and nothing of this was compared with. */
  readonly uncovered: ReadonlyArray<string>
  readonly differences: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly path: string
    readonly expected: string
    readonly found: string
  }>
  /** Members that no record can tell any more, because their part was erased. */
  readonly withheld: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly path: string }>
  readonly agents: ReadonlyArray<{
    readonly agent_id: string
    readonly witnessed: number
    readonly settled: number
    readonly gaps: number
  }>
}
