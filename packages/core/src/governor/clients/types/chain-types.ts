/**
 * The chain in the embedding API: records, proofs, keys, erasures, packs, checks. Members that HTTP has too are derived
 * from the contract, and the result of a check from the replay checker's.
 */
import type {
  ConsistencyOut,
  ErasureIn,
  ErasureOut,
  HeadOut,
  KeysOut,
  PackRequest,
  PartOut,
  ProofOut,
  RecordOut,
  RecordsQuery,
  VerifyOut
} from "@flyball/contract"
import type { ReplayReport } from "../../../outward/replay/report.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** The last record and the tree over all of them. Spec: document 1 section 2, "Chain head". */
export interface HeadInfo extends Info<typeof HeadOut> {}

/** Result of recomputing a range of the chain. Spec: document 1 section 4, GET /chain/verify. */
export interface VerifyInfo extends Info<typeof VerifyOut> {}

/** A sealed record: the exact bytes that were hashed. Spec: format 1 section 1. */
export interface RecordInfo extends Pick<Info<typeof RecordOut>, "at" | "kind" | "seq">, Pick<HeadInfo, "record_hash"> {
  /** The agent that the record is about; null where it is about none. */
  readonly agent_id: string | null
  readonly bytes: Uint8Array
}

/** Which records to read, oldest first. */
export interface RecordFilter extends Filter<typeof RecordsQuery> {}

/** The content of a part, with the salt of its commitment; both base64. Spec: format 1 section 3. */
export interface PartInfo extends Info<typeof PartOut> {}

/** Proof that a record is in the tree of this size. Spec: format 1 section 2. */
export interface ProofInfo extends Info<typeof ProofOut> {}

/** Proof that the tree of `to` records begins with that of `from`. Spec: format 1 section 2. */
export interface ConsistencyInfo extends Info<typeof ConsistencyOut> {}

/** A key that signs, or signed, for the chain. */
export type KeyInfo = KeysOut["keys"][number]

/** Which part to erase, and why. Spec: format 1 section 3. */
export interface ErasureInput extends Input<typeof ErasureIn> {}

/** The record of an erasure. */
export interface ErasureInfo extends Info<typeof ErasureOut> {}

/** Request for an evidence pack: its contents. Spec: format 1 section 5. */
export interface PackInput extends Input<typeof PackRequest> {}

/** A signed tree head. Spec: format 1 section 4. */
export interface CheckpointInfo extends Pick<HeadInfo, "root_hash"> {
  readonly size: HeadInfo["tree_size"]
  /** The signed note. */
  readonly note: string
}

/** A rotation of the signing key. Spec: format 1 section 4, "Rotation"; decision 0011. */
export interface RotationInfo {
  /** Of the record `key.rotated`. */
  readonly seq: RecordInfo["seq"]
  readonly from_vkey: KeyInfo["vkey"]
  readonly to_vkey: KeyInfo["vkey"]
  /** The first checkpoint that covers the record, signed by both keys. */
  readonly checkpoint: CheckpointInfo
}

/** Result of comparing records and documents. */
export interface CheckInfo extends Omit<ReplayReport, "agents"> {
  /** Counts that the records of each agent add up to. */
  readonly agents: ReadonlyArray<{ readonly agent_id: string } & CountsOf<ReplayReport["agents"]>>
}

type CountsOf<M> = M extends ReadonlyMap<string, infer Counts> ? Counts : never
