/**
 * The chain in the embedding API as HTTP does not have it: records with their bytes, packs, rotations, checks. The
 * result of a check is derived from the replay checker's.
 */
import type { HeadInfo, Info, Input, KeyInfo, PackRequest, RecordOut } from "@flyball/contract"
import type { ReplayReport } from "../../../outward/replay/report.ts"

/** A sealed record: the exact bytes that were hashed. Spec: format 1 section 1. */
export interface RecordInfo extends Pick<Info<typeof RecordOut>, "at" | "kind" | "seq">, Pick<HeadInfo, "record_hash"> {
  /** The agent that the record is about; null where it is about none. */
  readonly agent_id: string | null
  readonly bytes: Uint8Array
}

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
