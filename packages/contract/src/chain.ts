/**
 * The chain as it travels. Digests are `sha256:<hex>`. Spec: document 1 section 4, `/chain`; api.md "decisions, chain,
 * evidence".
 */
import { Schema } from "effect"
import { id, integer, integerParam, leftOut, oneOf, patterned, text } from "./foundation/fields.ts"
import type { Filter, Info, Input } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { becomesRecord, inBody } from "./foundation/place.ts"

/**
 * Answer of GET /chain/head. `checkpoint` is the newest signed note, which may be of a smaller tree. Spec: document 1
 * section 2, "Chain head".
 */
export const HeadOut = Schema.Struct({
  seq: Schema.Int,
  record_hash: Schema.String,
  tree_size: Schema.Int,
  root_hash: Schema.String,
  /** The newest signed note, which may be of a smaller tree; null before the first. */
  checkpoint: Schema.NullOr(Schema.String)
})
export type HeadOut = typeof HeadOut.Type

/** The last record and the tree over all of them. Spec: document 1 section 2, "Chain head". */
export interface HeadInfo extends Info<typeof HeadOut> {}

/** Query of GET /chain/verify: first and last seq, the whole chain by default. */
export const VerifyQuery = Schema.Struct({
  from: Schema.optionalKey(integerParam()),
  to: Schema.optionalKey(integerParam())
})
export type VerifyQuery = typeof VerifyQuery.Type

/** Answer of GET /chain/verify. Spec: document 1 section 4, GET /chain/verify. */
export const VerifyOut = Schema.Struct({
  ok: Schema.Boolean,
  checked: Schema.Int,
  from: Schema.Int,
  to: Schema.Int,
  head: HeadOut,
  first_bad_seq: Schema.NullOr(Schema.Int),
  findings: Schema.Array(
    Schema.Struct({
      code: Schema.String,
      seq: Schema.NullOr(Schema.Int),
      expected: Schema.String,
      found: Schema.String
    })
  ),
  checkpoint: Schema.NullOr(Schema.Struct({ tree_size: Schema.Int, root_hash: Schema.String, ok: Schema.Boolean })),
  duration_ms: Schema.Int
})
export type VerifyOut = typeof VerifyOut.Type

/** Result of recomputing a range of the chain. Spec: document 1 section 4, GET /chain/verify. */
export interface VerifyInfo extends Info<typeof VerifyOut> {}

/** Query of GET /chain/records, oldest first. */
export const RecordsQuery = Schema.Struct({
  from: Schema.optionalKey(integerParam()),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  kind: Schema.optionalKey(patterned(/^[a-z][a-z0-9_.]{2,63}$/, 64)),
  agent_id: Schema.optionalKey(id("agent"))
})
export type RecordsQuery = typeof RecordsQuery.Type

/** Which records to read, oldest first. */
export interface RecordFilter extends Filter<typeof RecordsQuery> {}

/** A record as it was hashed: its exact bytes, read as JSON. Spec: format 1 section 1. */
export const RecordOut = Schema.Struct({
  at: Schema.String,
  body: Schema.Record(Schema.String, Schema.Unknown),
  kind: Schema.String,
  parts: Schema.Array(Schema.Struct({ c: Schema.String, name: Schema.String })),
  prev: Schema.String,
  seq: Schema.Int,
  v: Schema.Int
})
export type RecordOut = typeof RecordOut.Type

/** Query of GET /chain/records/{seq}/proof; the newest tree by default. */
export const ProofQuery = Schema.Struct({ tree_size: Schema.optionalKey(integerParam(1)) })
export type ProofQuery = typeof ProofQuery.Type

/** Answer of GET /chain/records/{seq}/proof. Spec: format 1 section 2. */
export const ProofOut = Schema.Struct({
  seq: Schema.Int,
  record_hash: Schema.String,
  tree_size: Schema.Int,
  root_hash: Schema.String,
  proof: Schema.Array(Schema.String),
  checkpoint: Schema.NullOr(Schema.String)
})
export type ProofOut = typeof ProofOut.Type

/** Proof that a record is in the tree of this size. Spec: format 1 section 2. */
export interface ProofInfo extends Info<typeof ProofOut> {}

/** Query of GET /chain/consistency: two tree sizes, the newest by default. */
export const ConsistencyQuery = Schema.Struct({ from: integerParam(), to: Schema.optionalKey(integerParam()) })
export type ConsistencyQuery = typeof ConsistencyQuery.Type

/** Answer of GET /chain/consistency. Spec: format 1 section 2. */
export const ConsistencyOut = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  from_root: Schema.String,
  to_root: Schema.String,
  proof: Schema.Array(Schema.String)
})
export type ConsistencyOut = typeof ConsistencyOut.Type

/** Proof that the tree of `to` records begins with that of `from`. Spec: format 1 section 2. */
export interface ConsistencyInfo extends Info<typeof ConsistencyOut> {}

/** Query of GET /chain/genesis: the current chain, or by its origin a retired one. */
export const GenesisQuery = Schema.Struct({ chain: Schema.optionalKey(text(1, 255)) })
export type GenesisQuery = typeof GenesisQuery.Type

/**
 * Answer of GET /chain/genesis: record 0 as its exact text, the part of it that names the chain before (null where this
 * is the first one), and what proves them: the newest checkpoint, and the way from the record to its root. Without a
 * checkpoint yet both are empty. `vkeys`: the keys of the chain. Spec: format 1 section 1.3.
 */
export const GenesisOut = Schema.Struct({
  origin: Schema.String,
  record: Schema.String,
  previous: Schema.NullOr(Schema.Struct({ salt: Schema.String, bytes: Schema.String })),
  checkpoint: Schema.NullOr(Schema.String),
  proof: Schema.Array(Schema.String),
  vkeys: Schema.Array(Schema.String)
})
export type GenesisOut = typeof GenesisOut.Type

/** Answer of GET /chain/keys: the keys that sign, or signed, for this chain. Spec: format 1 section 4. */
export const KeysOut = Schema.Struct({
  origin: Schema.String,
  keys: Schema.Array(
    Schema.Struct({
      vkey: Schema.String,
      key_id: Schema.String,
      name: Schema.String,
      since_seq: Schema.Int,
      current: Schema.Boolean
    })
  )
})
export type KeysOut = typeof KeysOut.Type

/** A key that signs, or signed, for the chain. */
export type KeyInfo = KeysOut["keys"][number]

/** Why a part may be erased. Spec: format 1 section 8, `part.erased`. */
export const erasureReasons = [
  "subject_request",
  "legal_order",
  "retention",
  "captured_by_mistake",
  "security"
] as const

/** One of {@link erasureReasons}. */
export type ErasureReason = (typeof erasureReasons)[number]

/** Names of parts. */
export const partName = patterned(/^[a-z][a-z0-9_]{0,31}$/, 32)

/**
 * Answer of GET /chain/records/{seq}/parts/{name}. `commitment` is what the record says of the part; `salt` and `bytes`
 * are base64, and make the commitment again. `text` is the bytes as UTF-8; null where they are not. Spec: format 1
 * section 3.
 */
export const PartOut = Schema.Struct({
  seq: Schema.Int,
  name: Schema.String,
  commitment: Schema.String,
  salt: Schema.String,
  bytes: Schema.String,
  text: Schema.NullOr(Schema.String)
})
export type PartOut = typeof PartOut.Type

/** The content of a part, with the salt of its commitment; both base64. Spec: format 1 section 3. */
export interface PartInfo extends Info<typeof PartOut> {}

/** Body of POST /chain/erasures: which part of which record, and why. Spec: format 1 section 3. */
export const ErasureIn = Schema.Struct({
  seq: inBody(integer()),
  name: inBody(partName),
  reason: inBody(oneOf(erasureReasons))
}).annotate(becomesRecord("part.erased"))
export type ErasureIn = typeof ErasureIn.Type

/** Which part to erase, and why. Spec: format 1 section 3. */
export interface ErasureInput extends Input<typeof ErasureIn> {}

/** Answer of an erasure: the record that says so. Spec: format 1 section 8, `part.erased`. */
export const ErasureOut = Schema.Struct({
  seq: Schema.Int,
  record_hash: Schema.String,
  erased: Schema.Struct({ seq: Schema.Int, name: Schema.String, reason: oneOf(erasureReasons) })
})
export type ErasureOut = typeof ErasureOut.Type

/** The record of an erasure. */
export interface ErasureInfo extends Info<typeof ErasureOut> {}
