/**
 * What a host without Effect hands in and gets back: the shapes of the interface as plain TypeScript.
 *
 * They say the same as the schemas of `@flyball/contract`; a test holds the two together. Names are the interface's, so that what is documented for HTTP
 * holds here. Nothing in this file imports anything.
 */

/** How much an agent may do by itself, least first. */
export type Tier = "L0" | "L1" | "L2" | "L3" | "L4"

/** An agent to be registered. Absent and null mean the same. */
export interface AgentInput {
  /** Unique, 1 to 200 characters. */
  readonly name: string
  readonly org_unit: string
  readonly description?: string | null
  readonly owner_name?: string | null
  readonly owner_email?: string | null
  /** Default `L0`. */
  readonly autonomy_tier?: Tier | null
  readonly blast_radius?: { readonly [name: string]: unknown } | null
  /** RFC 3339, any offset. */
  readonly recert_due_at?: string | null
  readonly purpose?: string | null
  readonly agent_version?: string | null
  readonly framework?: string | null
  readonly model_ids?: ReadonlyArray<string> | null
  readonly risk_class?: "prohibited" | "high" | "limited" | "minimal" | "unclassified" | null
  readonly labels?: { readonly [name: string]: unknown } | null
}

/** What changes of an agent. Left out stays; null empties what may be empty. */
export interface AgentChange extends Omit<AgentInput, "name" | "org_unit" | "owner_name" | "owner_email"> {
  /** The version that was read; another one there is refused. */
  readonly if_version?: number | null
}

/** Who answers for an agent from here on. */
export interface OwnerInput {
  readonly owner_name: string
  readonly owner_email: string
}

/** An agent's identity: a signed card, or both members of a declaration. */
export interface IdentityInput {
  /** All of it base64. With `signature`: Ed25519 over the card's bytes, by the key that `key_id` or `public_key` names. Without: an A2A card with its own `signatures`. */
  readonly signed_card?: { readonly card: string; readonly signature?: string | null; readonly public_key?: string | null; readonly key_id?: string | null } | null
  /** Where the declared identity is from: `spiffe`, `entra_agent_id`, `okta_agent`, `oidc_workload`, `aws_agent_registry`, `did`, or a word of yours. */
  readonly declared_source?: string | null
  readonly declared_ref?: string | null
}

/** What came of it. `identity_*` is the agent's identity afterwards, which a rejected card leaves as it was. */
export interface IdentityInfo {
  readonly agent_id: string
  readonly identity_verified: boolean
  readonly identity_source: string | null
  readonly identity_ref: string | null
  readonly verdict: "verified" | "declared" | "rejected"
  readonly reason_code: "ok" | "signature_invalid" | "key_unknown" | "key_revoked" | "key_expired" | "alg_not_allowed" | "card_malformed" | "name_mismatch"
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
  readonly status?: "draft" | "active" | "suspended" | "decommissioned"
  readonly autonomy_tier?: Tier
  /** Exactly this name. */
  readonly name?: string
  /** A name that begins so. */
  readonly q?: string
  readonly limit?: number
  /** Id of the last agent seen. */
  readonly after?: string
}

/** Tokens and cost of a call. */
export interface UsageInput {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cost_micro_usd?: number | null
}

/** A decision to be witnessed. `args`, `result` and `labels` are any JSON, up to 1 MiB each; they can be withheld and erased later. */
export interface DecisionInput {
  /** Your own name for this decision, unique per agent: the same content again is a duplicate, other content is refused. Best if it ascends in time. */
  readonly client_ref: string
  readonly action: string
  readonly kind?: "tool_call" | "model_call" | "message" | "handoff" | "approval" | "other"
  readonly status?: "intended" | "ok" | "error" | "denied" | "unknown"
  readonly tool_server?: string | null
  readonly run_id?: string | null
  readonly step?: number | null
  /** When you saw it; RFC 3339, any offset. */
  readonly observed_at?: string | null
  readonly evaluation_id?: string | null
  readonly approval_id?: string | null
  readonly model?: string | null
  readonly usage?: UsageInput | null
  readonly latency_ms?: number | null
  readonly mode?: "enforced" | "observed" | null
  readonly decided_by?: "server" | "sdk_cache" | "fail_open" | "fail_closed" | null
  readonly writer_seq?: number | null
  readonly args?: unknown
  readonly result?: unknown
  readonly labels?: unknown
}

/** Where a decision landed. `duplicate`: it was there already. */
export interface DecisionReceipt {
  readonly client_ref: string
  readonly decision_id: string
  readonly seq: number
  readonly record_hash: string
  readonly duplicate: boolean
}

/** One receipt per decision, in order, and the head of the chain after them. */
export interface Receipts {
  readonly receipts: ReadonlyArray<DecisionReceipt>
  readonly head: { readonly seq: number; readonly record_hash: string }
}

/** The outcome of a decision. */
export interface SettleInput {
  readonly status: "ok" | "error" | "denied" | "unknown"
  readonly result?: unknown
  readonly usage?: UsageInput | null
  readonly latency_ms?: number | null
  /** What the meters of its evaluation came to, in place of what was reserved. A writer `key_…` may not say less (`settle_below_reserved`). */
  readonly actual?: ReadonlyArray<{ readonly meter: string; readonly amount: number }> | null
}

/** Where an outcome landed. */
export interface SettleReceipt {
  readonly decision_id: string
  readonly seq: number
  readonly record_hash: string
  readonly duplicate: boolean
}

/** A stretch of time in which decisions were made and not witnessed. */
export interface GapInput {
  readonly from: string
  readonly to: string
  readonly count: number
  readonly reason: "server_unreachable" | "spool_full" | "crash" | "clock"
}

/** Where the note of a gap landed. */
export interface GapReceipt {
  readonly agent_id: string
  readonly seq: number
  readonly record_hash: string
}

/** Which decisions to list, newest first. */
export interface DecisionFilter {
  /** 1 to 1,000, default 100. */
  readonly limit?: number
  /** Seq of the last decision seen. */
  readonly before?: number
  readonly run_id?: string
  readonly action?: string
}

/** A witnessed decision, with its outcome where it was settled. */
export interface DecisionInfo {
  readonly id: string
  readonly agent_id: string
  readonly seq: number
  readonly record_hash: string
  readonly recorded_at: string
  readonly client_ref: string
  readonly kind: "tool_call" | "model_call" | "message" | "handoff" | "approval" | "other"
  readonly action: string
  readonly tool_server: string | null
  readonly run_id: string | null
  readonly step: number | null
  readonly observed_at: string | null
  readonly status: "intended" | "ok" | "error" | "denied" | "unknown"
  readonly evaluation_id: string | null
  readonly approval_id: string | null
  readonly model: string | null
  readonly usage: UsageInput | null
  readonly latency_ms: number | null
  readonly mode: "enforced" | "observed" | null
  readonly decided_by: "server" | "sdk_cache" | "fail_open" | "fail_closed" | null
  readonly writer_seq: number | null
  readonly writer: string
  readonly agent_status: string
  /** Names of its parts. */
  readonly parts: ReadonlyArray<string>
  readonly settled: {
    readonly seq: number
    readonly record_hash: string
    readonly recorded_at: string
    readonly status: "ok" | "error" | "denied" | "unknown"
    readonly usage: UsageInput | null
    readonly latency_ms: number | null
    readonly writer: string
  } | null
}

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
  readonly findings: ReadonlyArray<{ readonly code: string; readonly seq: number | null; readonly expected: string; readonly found: string }>
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
  readonly from?: number
  /** 1 to 1,000, default 100. */
  readonly limit?: number
  readonly kind?: string
  readonly agent_id?: string
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
  readonly from?: number | null
  readonly to?: number | null
  readonly agent_id?: string | null
  readonly run_id?: string | null
  readonly kinds?: ReadonlyArray<string> | null
  readonly since?: string | null
  readonly until?: string | null
  /** Which parts are shown; default `none`. */
  readonly disclose?: "none" | "all" | ReadonlyArray<string> | null
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
  readonly differences: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly path: string; readonly expected: string; readonly found: string }>
  /** Members that no record can tell any more, because their part was erased. */
  readonly withheld: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly path: string }>
  readonly agents: ReadonlyArray<{ readonly agent_id: string; readonly witnessed: number; readonly settled: number; readonly gaps: number }>
}

/** Ends a call early. */
export interface CallOptions {
  readonly signal?: AbortSignal
}
