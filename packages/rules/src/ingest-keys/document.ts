/** The ingest key as state: never the key, only its digest. */
import type { AutonomyTier } from "../agents/document.ts"
import { namesOf } from "../records/part-members.ts"

/** Name and scope of an ingest key: the members of the part `profile`. */
export type IngestKeyProfile = {
  /** The key's id once the profile was erased. */
  readonly name: string
  /** Null once the profile was erased; such a key opens nothing. */
  readonly orgUnit: string | null
}

/** A profile after its part was erased. Spec: decision 0006. */
export const erasedKeyProfile = (keyId: string): IngestKeyProfile => ({ name: keyId, orgUnit: null })

/** Members that come from the part `profile`. */
export const keyProfileMembers = namesOf(erasedKeyProfile(""))

/**
 * An ingest key's document. Its id begins with the time at which it was minted.
 *
 * Spec: api "agents and registry", `/admin/ingest-keys`.
 */
export type IngestKeyDocument = IngestKeyProfile & {
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly digest: string
  readonly maxAutonomyTier: AutonomyTier
  /** Writer who minted it. */
  readonly createdBy: string
  readonly expiresAtMs: number | null
  /** Its decisions may say that a gateway captured them. Absent in keys that may not. */
  readonly capture?: "mediated"
  /** The record of the revocation has the time. */
  readonly revoked: boolean
}
