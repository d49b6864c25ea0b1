/**
 * Shapes of the HTTP API that the client sends and reads. `wire.test.ts` proves them equal to the contract, which is
 * not imported: an agent needs no Effect.
 */

import * as words from "@flyball/evidence/words"

// Copies: a published declaration of the client names no other package, and the compiler writes these out.
/** Responses to a halt, by strictness. */
export const killResponses = [...words.killResponses] as const
/** Outcomes of an evaluation. */
export const outcomes = [...words.outcomes] as const

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** An agent, as far as the client reads it. */
export interface AgentInfo {
  readonly id: string
  readonly name: string
  readonly org_unit: string | null
  readonly status: "draft" | "active" | "suspended" | "decommissioned"
  readonly autonomy_tier: "L0" | "L1" | "L2" | "L3" | "L4"
  readonly identity_verified: boolean
}

/** Body of a registration. Spec: api.md, POST /agents. */
export interface Registration {
  readonly name: string
  readonly description?: string | null
  readonly owner_name?: string | null
  readonly owner_email?: string | null
  readonly org_unit?: string
  readonly autonomy_tier?: "L0" | "L1" | "L2" | "L3" | "L4" | null
  readonly purpose?: string | null
  readonly agent_version?: string | null
  readonly framework?: string | null
  readonly model_ids?: ReadonlyArray<string> | null
  readonly labels?: { readonly [name: string]: Json } | null
  /** The agent that this one works for: its halt reaches this one too. */
  readonly parent_agent_id?: string | null
}

/** Tokens and cost of a call. `cost_micro_usd`: millionths of a US dollar. */
export interface Usage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cost_micro_usd?: number | null
}

/** Outcomes of a decision, as far as its writer knows. */
export type DecisionStatus = "intended" | "ok" | "error" | "denied" | "unknown"

/** The source that let the agent continue: a verdict of the server or of a cached envelope, or a failure mode. */
export type DecidedBy = "server" | "sdk_cache" | "fail_open" | "fail_closed"

/**
 * How a decision came to be witnessed, as its writer claims: by the agent's own words, by a hook of its framework, or
 * by a gateway that the action passed. `mediated` needs a key that was minted for it. Spec: format 1 section 8,
 * `decision.witnessed`.
 */
export type CaptureTier = "self_reported" | "framework_hook" | "mediated"

/** One decision to witness. Spec: api.md, POST /agents/{id}/decisions. */
export interface Decision {
  readonly client_ref: string
  readonly action: string
  readonly kind?: "tool_call" | "tool_list" | "model_call" | "message" | "handoff" | "approval" | "other"
  readonly status?: DecisionStatus
  readonly tool_server?: string | null
  readonly run_id?: string | null
  readonly instance_id?: string | null
  readonly step?: number | null
  readonly evaluation_id?: string | null
  readonly approval_id?: string | null
  readonly model?: string | null
  readonly usage?: Usage | null
  readonly latency_ms?: number | null
  readonly mode?: "enforced" | "observed" | null
  readonly decided_by?: DecidedBy | null
  readonly capture?: CaptureTier | null
  readonly local_verdict?: LocalVerdict | null
  readonly writer_seq?: number | null
  readonly observed_at?: string | null
  readonly args?: Json
  readonly result?: Json
  readonly labels?: Json
  readonly signals?: Json
}

/** A verdict that the client gave itself: `decided_by` is then `sdk_cache`. Spec: `envelope/1` section 15. */
export interface LocalVerdict {
  readonly age_ms: number
  readonly as_of_ms: number
  readonly as_of_seq: number
  readonly effective_tier: "L0" | "L1" | "L2" | "L3" | "L4"
  readonly layers: ReadonlyArray<{ readonly digest: string; readonly envelope_id: string; readonly version: number }>
  readonly matched_rule: string
  readonly origin: string
  readonly outcome: "allow" | "deny"
}

/**
 * The envelopes under which the client may decide while the server is away. Spec: GET
 * /bound/agents/{id}/envelopes-in-force.
 */
export interface EnvelopesInForce {
  readonly agent_id: string
  readonly origin: string
  readonly as_of_ms: number
  readonly as_of_seq: number
  readonly max_age_ms: number
  readonly obstacle: string | null
  readonly effective_tier: LocalVerdict["effective_tier"]
  readonly server_signals: { readonly [name: string]: Json }
  readonly layers: ReadonlyArray<{
    readonly envelope_id: string
    readonly version: number
    readonly digest: string
    readonly caller_signals: ReadonlyArray<string>
    readonly envelope: { readonly [name: string]: unknown } | null
  }>
}

/** The outcome of a decision that was witnessed as `intended`. Spec: api.md, POST /decisions/{id}/settle. */
export interface Settlement {
  readonly status: "ok" | "error" | "denied" | "unknown"
  readonly result?: Json
  readonly usage?: Usage | null
  readonly latency_ms?: number | null
}

/** Place of a witnessed decision in the chain. */
export interface Receipt {
  readonly client_ref: string
  readonly decision_id: string
  readonly seq: number
  readonly record_hash: string
  readonly duplicate: boolean
}

/** Why decisions are missing. Spec: api.md, POST /agents/{id}/capture-gaps. */
export interface Gap {
  readonly from: string
  readonly to: string
  readonly count: number
  readonly reason: "server_unreachable" | "spool_full" | "crash" | "clock" | "refused"
}

/** One of {@link outcomes}. */
export type Outcome = (typeof outcomes)[number]

/** A question whether the agent may act. Spec: api.md, POST /bound/evaluations. */
export interface EvaluationRequest {
  readonly agent_id: string
  readonly client_ref: string
  readonly signals: { readonly [name: string]: Json }
  readonly action?: string | null
  readonly action_digest?: string | null
  readonly run_id?: string | null
  readonly instance_id?: string | null
  readonly approval_id?: string | null
  readonly extraction_id?: string | null
  readonly args?: Json
  readonly args_redacted?: boolean | null
}

/**
 * The answer, as far as the client reads it. `valid_ms`: how long the agent may act on it. Spec: document 1 section 2,
 * "Evaluation record".
 */
export interface Evaluation {
  readonly id: string
  readonly agent_id: string
  readonly client_ref: string
  readonly outcome: Outcome
  readonly matched_rule: string
  /** Why, in words; null where the rule that decided states no reason. */
  readonly reason: string | null
  readonly layers: ReadonlyArray<{ readonly envelope_id: string; readonly version: number; readonly digest: string }>
  readonly seq: number
  readonly record_hash: string
  readonly valid_ms: number
  readonly review_id: string | null
  readonly standing_approval_id: string | null
  readonly obligations: ReadonlyArray<{ readonly [name: string]: unknown }>
  readonly suggestion: string | null
  readonly notice_ms: number | null
  readonly retry_after_ms: number | null
}

/**
 * A review, as far as the client reads it. `resolution`: the answer of the people; null until the review is over. Spec:
 * decision 0049.
 */
export interface Review {
  readonly id: string
  readonly agent_id: string
  readonly action_digest: string
  readonly status: "open" | "claimed" | "resolved" | "expired" | "cancelled"
  readonly resolution: "approve" | "reject" | "amend" | null
  readonly reason: string | null
  readonly approvals_given: number
  readonly approvals_needed: number
  readonly expires_at: string
  readonly consumed_by: string | null
}

/** One of {@link killResponses}. */
export type KillResponse = (typeof killResponses)[number]

/** Kill status of one target, as far as the client reads it. Spec: api.md, GET /bound/kill/status. */
export interface KillStatus {
  readonly target_type: string
  readonly target_id: string
  readonly halted: boolean
  readonly drill: boolean
  readonly activation_event: string | null
  readonly effective_response: KillResponse | null
  readonly epoch: number
  readonly origin: string
  /** The person's reason for the named activation; absent from older servers. */
  readonly reason?: string | null
}
