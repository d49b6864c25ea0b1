/** The platform key as state: never the key, only its digest. */
import { namesOf } from "../records/part-members.ts"

/** Name and org unit of a platform key: the members of the part `profile`. */
export type PlatformKeyProfile = {
  /** The key's id once the profile was erased. */
  readonly name: string
  /** Null once the profile was erased; such a key opens nothing. */
  readonly orgUnit: string | null
}

/** A profile after its part was erased. Spec: decision 0006. */
export const erasedPlatformKeyProfile = (keyId: string): PlatformKeyProfile => ({ name: keyId, orgUnit: null })

/** Members that come from the part `profile`. */
export const platformKeyProfileMembers = namesOf(erasedPlatformKeyProfile(""))

/** Limits of a key's own. Null: none. */
export type PlatformKeyLimits = {
  readonly requestsPerMinute: number | null
  readonly requestsPerDay: number | null
  readonly concurrent: number | null
  readonly concurrentRuns: number | null
}

/** A platform key's document. Its id begins with the time at which it was minted. Spec: api.md "Document 2". */
export type PlatformKeyDocument = PlatformKeyProfile & {
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly digest: string
  readonly plan: string
  readonly scopes: ReadonlyArray<string>
  /** The agent that calls the gateway with it; null where each request names one. */
  readonly agentId: string | null
  /** Null but for the plan `custom`. */
  readonly limits: PlatformKeyLimits | null
  /** Writer who minted it. */
  readonly createdBy: string
  readonly expiresAtMs: number | null
  /** The record of the revocation has the time. */
  readonly revoked: boolean
}
