/**
 * What a host without Effect does with agents, what it hands in and what it gets back: the shapes of the interface as
 * plain TypeScript.
 *
 * They say the same as the schemas of `@flyball/contract`; a test holds the two together. Names are the interface's, so
 * that what is documented for HTTP
 * holds here.
 */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** How much an agent may do by itself, least first. */
export type Tier = "L0" | "L1" | "L2" | "L3" | "L4"

/** An agent to be registered. Absent and null mean the same. */
export interface AgentInput {
  /** Unique, 1 to 200 characters. */
  readonly name: string
  readonly org_unit: string
  readonly description?: string | null | undefined
  readonly owner_name?: string | null | undefined
  readonly owner_email?: string | null | undefined
  /** Default `L0`. */
  readonly autonomy_tier?: Tier | null | undefined
  readonly blast_radius?: { readonly [name: string]: unknown } | null | undefined
  /** RFC 3339, any offset. */
  readonly recert_due_at?: string | null | undefined
  readonly purpose?: string | null | undefined
  readonly agent_version?: string | null | undefined
  readonly framework?: string | null | undefined
  readonly model_ids?: ReadonlyArray<string> | null | undefined
  readonly risk_class?: "prohibited" | "high" | "limited" | "minimal" | "unclassified" | null | undefined
  readonly labels?: { readonly [name: string]: unknown } | null | undefined
}

/** What changes of an agent. Left out stays; null empties what may be empty. */
export interface AgentChange extends Omit<AgentInput, "name" | "org_unit" | "owner_name" | "owner_email"> {
  /** The version that was read; another one there is refused. */
  readonly if_version?: number | null | undefined
}

/** Who answers for an agent from here on. */
export interface OwnerInput {
  readonly owner_name: string
  readonly owner_email: string
}

/** An agent's identity: a signed card, or both members of a declaration. */
export interface IdentityInput {
  /**
   * Base64, but for a `card` that is a JSON object: that stands for its RFC 8785 bytes. With `signature`: Ed25519 over
   * the card's bytes, by the key that
   * `key_id` or `public_key` names. Without: an A2A card with its own `signatures`.
   */
  readonly signed_card?:
    | {
        readonly card: string | { readonly [name: string]: unknown }
        readonly signature?: string | null | undefined
        readonly public_key?: string | null | undefined
        readonly key_id?: string | null | undefined
      }
    | null
    | undefined
  /**
   * Where the declared identity is from: `spiffe`, `entra_agent_id`, `okta_agent`, `oidc_workload`,
   * `aws_agent_registry`, `did`, or a word of yours.
   */
  readonly declared_source?: string | null | undefined
  readonly declared_ref?: string | null | undefined
  /** The declaration takes the place of a verified identity, which is withdrawn. Refused to ingest keys. */
  readonly withdraw_verified?: boolean | null | undefined
}

/**
 * What came of it. `identity_*` is the identity of this attempt, false and null for a rejected card; `standing` is the
 * agent's identity afterwards.
 */
export interface IdentityInfo {
  readonly agent_id: string
  readonly identity_verified: boolean
  readonly identity_source: string | null
  readonly identity_ref: string | null
  readonly verdict: "verified" | "declared" | "rejected"
  readonly reason_code:
    | "ok"
    | "signature_invalid"
    | "key_unknown"
    | "key_revoked"
    | "key_expired"
    | "alg_not_allowed"
    | "card_malformed"
    | "name_mismatch"
  readonly standing: {
    readonly identity_verified: boolean
    readonly identity_source: string | null
    readonly identity_ref: string | null
  }
  readonly card_digest: string | null
  readonly key_id: string | null
  readonly alg: string | null
  readonly checked_at: string
  readonly seq: number
  readonly record_hash: string
}

/** A registered agent. Texts are null once their part was erased. */
export interface AgentInfo {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly description: string | null
  readonly owner_name: string | null
  readonly owner_email: string | null
  readonly org_unit: string | null
  readonly autonomy_tier: Tier
  /** The tier at which an active agent acts: below `autonomy_tier` while it lacks a condition of that. */
  readonly effective_tier: Tier
  readonly blast_radius: { readonly [name: string]: unknown }
  readonly status: "draft" | "active" | "suspended" | "decommissioned"
  readonly recert_due_at: string | null
  readonly decommissioned_at: string | null
  readonly created_at: string
  readonly identity_verified: boolean
  readonly identity_source: string | null
  readonly identity_ref: string | null
  readonly version: number
  readonly purpose: string | null
  readonly agent_version: string | null
  readonly framework: string | null
  readonly model_ids: ReadonlyArray<string>
  readonly risk_class: string
  readonly labels: { readonly [name: string]: unknown }
  readonly suspended_reason: string | null
  readonly orphaned_since: string | null
}

/** An agent that nobody answers for. It is suspended at `suspend_at`. */
export interface OrphanInfo extends AgentInfo {
  readonly orphaned_since: string
  readonly suspend_at: string
}

/** Which agents to list, oldest first. */
export interface AgentFilter {
  readonly status?: "draft" | "active" | "suspended" | "decommissioned" | undefined
  readonly autonomy_tier?: Tier | undefined
  /** Exactly this name. */
  readonly name?: string | undefined
  /** A name that begins so. */
  readonly q?: string | undefined
  readonly limit?: number | undefined
  /** Id of the last agent seen. */
  readonly after?: string | undefined
}

/** Which entries of a timeline to list, newest first. */
export interface TimelineFilter {
  /** 1 to 1,000, default 100. */
  readonly limit?: number | undefined
  /** Seq of the last entry seen. */
  readonly before?: number | undefined
}

/** One record about an agent. `summary` is a sentence for people: match on `kind` instead. */
export interface TimelineEntryInfo {
  readonly seq: number
  readonly record_hash: string
  readonly recorded_at: string
  readonly kind: string
  /** Id of the principal that wrote the record; null where it names none. */
  readonly actor: string | null
  readonly summary: string
  /** What the record refers to. A record is named by its seq. */
  readonly references: ReadonlyArray<{
    readonly type: "decision" | "envelope" | "evaluation" | "provenance" | "record" | "run" | "waiver"
    readonly id: string
  }>
}

/**
 * The registry. Every act on an agent is one record, and answers the agent after it; one that its status does not take
 * is refused with `invalid_transition`.
 */
export interface AgentsClient {
  /** Finds the agent of this name, or registers it. */
  register(input: AgentInput, options?: ActOptions): Promise<{ readonly agent: AgentInfo; readonly created: boolean }>
  /** The agent of exactly this name; null when there is none. */
  find(name: string, options?: CallOptions): Promise<AgentInfo | null>
  get(id: string, options?: CallOptions): Promise<AgentInfo>
  list(filter?: AgentFilter, options?: CallOptions): Promise<ReadonlyArray<AgentInfo>>
  /** Agents that nobody answers for. */
  orphans(options?: CallOptions): Promise<ReadonlyArray<OrphanInfo>>
  /** What happened to an agent, newest first: one entry for each of its records. It holds nothing of a part. */
  timeline(id: string, filter?: TimelineFilter, options?: CallOptions): Promise<ReadonlyArray<TimelineEntryInfo>>
  update(id: string, change: AgentChange, options?: ActOptions): Promise<AgentInfo>
  /** Lets an agent act, if it has what its tier needs; else `tier_gate_unmet`. */
  activate(id: string, options?: ActOptions): Promise<AgentInfo>
  /** Stops an agent until it is activated again. */
  suspend(id: string, why?: { readonly reason?: string | null | undefined }, options?: ActOptions): Promise<AgentInfo>
  /** Ends an agent for good. */
  decommission(id: string, options?: ActOptions): Promise<AgentInfo>
  /** Says that the agent was looked at, and when it is next; RFC 3339, any offset. */
  recertify(id: string, next: { readonly recert_due_at: string }, options?: ActOptions): Promise<AgentInfo>
  transferOwnership(id: string, owner: OwnerInput, options?: ActOptions): Promise<AgentInfo>
  /**
   * Verifies a signed card by the keys of the trust store, or takes down a declared identity. A rejected card is an
   * answer, not an error; either way it is recorded.
   */
  attachIdentity(id: string, identity: IdentityInput, options?: ActOptions): Promise<IdentityInfo>
  /** Takes the owner away; the agent has a week to get another. */
  disown(id: string, why: { readonly reason: string }, options?: ActOptions): Promise<AgentInfo>
}
