/** The agent as state: what the document holds, and what erasing a part leaves of it. */

import { agentStatuses, suspensionCauses } from "@flyball/evidence/words"
import { sourceWord } from "../identity/sources.ts"
import { namesOf } from "../records/part-members.ts"
import type { Json } from "../records/record.ts"

export { agentStatuses, suspensionCauses }

/** Autonomy tiers, least autonomy first. Spec: document 1 section 3. */
export const autonomyTiers = ["L0", "L1", "L2", "L3", "L4"] as const

/** One of {@link autonomyTiers}. */
export type AutonomyTier = (typeof autonomyTiers)[number]

/** One of {@link suspensionCauses}. */
export type SuspendedReason = (typeof suspensionCauses)[number]

/** Name and description of an agent: the members of the part `profile`. */
export type AgentProfile = {
  /** The agent's id once the profile was erased. */
  readonly name: string
  readonly description: string | null
  /** Null once the profile was erased. */
  readonly orgUnit: string | null
  readonly purpose: string | null
  readonly agentVersion: string | null
  readonly framework: string | null
  readonly modelIds: ReadonlyArray<string>
  readonly labels: { readonly [name: string]: Json }
  readonly blastRadius: { readonly [name: string]: Json }
}

/** A profile after its part was erased: the name must stay unique, so it becomes the id. Spec: decision 0006. */
export const erasedProfile = (agentId: string): AgentProfile => ({
  name: agentId,
  description: null,
  orgUnit: null,
  purpose: null,
  agentVersion: null,
  framework: null,
  modelIds: [],
  labels: {},
  blastRadius: {}
})

/** The owner of an agent: the members of the part `owner`. */
export type AgentOwner = {
  readonly ownerName: string | null
  readonly ownerEmail: string | null
}

/** No owner: none was given, or the part was erased. Spec: decision 0006. */
export const noOwner: AgentOwner = { ownerName: null, ownerEmail: null }

/**
 * An agent's document. Its id begins with the time of its creation.
 *
 * Spec: document 1 section 2, `AgentOut`; the members beyond it are in api "Conventions".
 */
export type AgentDocument = AgentProfile &
  AgentOwner & {
    readonly autonomyTier: AutonomyTier
    readonly riskClass: string
    readonly status: (typeof agentStatuses)[number]
    readonly recertDueAtMs: number | null
    // What follows is there only when it says something.
    readonly decommissionedAtMs?: number
    /** While suspended: why. */
    readonly suspendedReason?: SuspendedReason
    /** The reason that the suspending person gave; absent once it was erased. */
    readonly suspensionReason?: string
    /**
     * Time at which the owner was removed. An agent that never had one is an orphan since its registration, without
     * this member.
     */
    readonly orphanedAtMs?: number
    /** False: the owner lacks a name or an e-mail address, and a record says so. */
    readonly ownerComplete?: false
    /** The agent whose halts reach this one too. Never changed. */
    readonly parentAgentId?: string
    /**
     * The models that the body of its last record names: those of the profile, which stay here when that is erased.
     * Absent until a record of this chain says it.
     */
    readonly sealedModelIds?: ReadonlyArray<string>
    /** Digest of its org unit, as in the bodies of its records: it stays when the profile is erased. */
    readonly orgUnitDigest?: string
    /** When a drill of the agent itself was completed last. Absent until one was. Unit: milliseconds since 1970 UTC. */
    readonly drilledAtMs?: number
    /** When a drill of the agent itself that was met was attested last. Unit: milliseconds since 1970 UTC. */
    readonly drillAttestedAtMs?: number
    /** The last attestation. Absent until something was. */
    readonly identityVerified?: boolean
    /** One of the words of `identity/sources.ts`, or a caller's own. */
    readonly identitySource?: string
    /** Null once the part `identity` was erased. */
    readonly identityRef?: string | null
  }

/** Members that come from the part `profile`. */
export const profileMembers = namesOf(erasedProfile(""))

/** Members that come from the part `owner`. */
export const ownerMembers = namesOf(noOwner)

/** Members that come from the part `identity`. */
export const identityMembers = ["identitySource", "identityRef"] as const

/** The rest of an identity whose part was erased: the source word of the record's body. Spec: decision 0006. */
export const erasedIdentity = (source: string): { readonly identitySource: string; readonly identityRef: null } => ({
  identitySource: sourceWord(source),
  identityRef: null
})
