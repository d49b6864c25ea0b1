/**
 * Decisions as a host without Effect hands them in and gets them back, as plain TypeScript.
 *
 * They say the same as the schemas of `@flyball/contract`; a test holds the two together. Names are the interface's, so
 * that what is documented for HTTP
 * holds here. Nothing in this file imports anything.
 */

/** Tokens and cost of a call. */
export interface UsageInput {
  readonly input_tokens?: number | null | undefined
  readonly output_tokens?: number | null | undefined
  readonly cost_micro_usd?: number | null | undefined
}

/** The same in an answer: always all of it, null where it was not said. */
export interface UsageInfo {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cost_micro_usd: number | null
}

/**
 * A decision to be witnessed. `args`, `result` and `labels` are any JSON, up to 1 MiB each; they can be withheld and
 * erased later.
 */
export interface DecisionInput {
  /**
   * Your own name for this decision, unique per agent: the same content again is a duplicate, other content is refused.
   * Best if it ascends in time.
   */
  readonly client_ref: string
  readonly action: string
  readonly kind?: "tool_call" | "model_call" | "message" | "handoff" | "approval" | "other" | undefined
  readonly status?: "intended" | "ok" | "error" | "denied" | "unknown" | undefined
  readonly tool_server?: string | null | undefined
  readonly run_id?: string | null | undefined
  readonly step?: number | null | undefined
  /** When you saw it; RFC 3339, any offset. */
  readonly observed_at?: string | null | undefined
  readonly evaluation_id?: string | null | undefined
  readonly approval_id?: string | null | undefined
  readonly model?: string | null | undefined
  readonly usage?: UsageInput | null | undefined
  readonly latency_ms?: number | null | undefined
  readonly mode?: "enforced" | "observed" | null | undefined
  readonly decided_by?: "server" | "sdk_cache" | "fail_open" | "fail_closed" | null | undefined
  readonly writer_seq?: number | null | undefined
  readonly args?: unknown | undefined
  readonly result?: unknown | undefined
  readonly labels?: unknown | undefined
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
  readonly result?: unknown | undefined
  readonly usage?: UsageInput | null | undefined
  readonly latency_ms?: number | null | undefined
  /**
   * What the meters of its evaluation came to, in place of what was reserved. A writer `key_…` may not say less
   * (`settle_below_reserved`).
   */
  readonly actual?: ReadonlyArray<{ readonly meter: string; readonly amount: number }> | null | undefined
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
  readonly limit?: number | undefined
  /** Seq of the last decision seen. */
  readonly before?: number | undefined
  readonly run_id?: string | undefined
  readonly action?: string | undefined
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
  readonly usage: UsageInfo | null
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
    readonly usage: UsageInfo | null
    readonly latency_ms: number | null
    readonly writer: string
  } | null
}
