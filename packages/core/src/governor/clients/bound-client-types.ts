/** What a host without Effect does with envelopes and evaluations: the shapes of the interface as plain TypeScript. */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** What an evaluation can come to, least restrictive first. */
export type Outcome = "allow" | "allow_with_notice" | "require_review" | "deny" | "halt"

/** A JSON object. */
export type JsonObjectInput = { readonly [name: string]: unknown }

/** What an agent asks leave for. */
export interface EvaluationInput {
  readonly agent_id: string
  /**
   * Your own name for this request, unique per agent: the same content again gets the first answer, other content is
   * refused.
   */
  readonly client_ref: string
  /** By name, as the envelope declares them. Unknown ones are denied. */
  readonly signals: unknown
  readonly action?: string | null | undefined
  /** `sha256:<hex>` of the action's arguments: a review is bound to it. */
  readonly action_digest?: string | null | undefined
  readonly run_id?: string | null | undefined
  readonly approval_id?: string | null | undefined
}

/** The verdict, and all that led to it. It may be acted on for `valid_ms`. */
export interface EvaluationInfo {
  readonly id: string
  readonly agent_id: string
  readonly envelope_id: string | null
  readonly envelope_version: number | null
  readonly client_ref: string
  readonly signals: JsonObjectInput | null
  readonly outcome: Outcome
  readonly matched_rule: string
  readonly trace: ReadonlyArray<{
    readonly step: string
    readonly id: string
    readonly result: "hit" | "miss" | "error"
    readonly outcome: Outcome | null
    readonly failed_on: string | null
  }>
  readonly created_at: string
  readonly seq: number
  readonly record_hash: string
  readonly obligations: ReadonlyArray<JsonObjectInput>
  readonly notice_ms: number | null
  readonly retry_after_ms: number | null
  readonly suggestion: string | null
  readonly review_id: string | null
  readonly valid_ms: number
  readonly mode: "enforced" | "shadow"
  readonly tier: string
  /** The tier whose floor counted. */
  readonly effective_tier: string
  readonly agent_status: string
  readonly meters: ReadonlyArray<{
    readonly id: string
    readonly value: number
    readonly after: number
    readonly as_of_seq: number
    readonly reserved: boolean
  }>
  readonly shadow: { readonly outcome: Outcome; readonly matched_rule: string } | null
}

/** What would have had to be otherwise. */
export interface ExplanationInfo {
  readonly evaluation_id: string
  readonly outcome: Outcome
  readonly matched_rule: string
  readonly rule_reason: string | null
  readonly effective_tier: string
  /** Why the agent acted below its tier; null where it did not. */
  readonly tier_reason: string | null
  readonly nearest: {
    readonly outcome: Outcome
    readonly changes: ReadonlyArray<{
      readonly signal: string
      readonly source: string
      readonly from: unknown
      readonly to: unknown
    }>
    readonly held: ReadonlyArray<string>
    readonly sentence: string
  } | null
  readonly reason: string | null
}

/** An envelope. `revision` counts its changes. */
export interface EnvelopeInfo {
  readonly id: string
  readonly name: string | null
  readonly agent_id: string | null
  readonly org_unit: string | null
  readonly status: "draft" | "published" | "withdrawn"
  readonly live_version: number | null
  readonly shadow_version: number | null
  readonly draft: {
    readonly version: number
    readonly digest: string
    readonly authors: ReadonlyArray<string>
    readonly envelope: JsonObjectInput
  } | null
  readonly revision: number
  readonly created_at: string
}

/** A published version. */
export interface EnvelopeVersionInfo {
  readonly envelope_id: string
  readonly version: number
  readonly digest: string
  readonly mode: "enforced" | "shadow"
  readonly status: "published" | "shadow" | "superseded" | "withdrawn"
  readonly change: "equal" | "tightening_only" | "loosens" | "unknown"
  readonly authors: ReadonlyArray<string>
  readonly published_by: string
  readonly envelope: JsonObjectInput | null
}

/** What lint found. `proved`: codes that are certainly not there where no finding names them. */
export interface LintInfo {
  readonly publishable: boolean
  readonly complete: boolean
  readonly findings: ReadonlyArray<{
    readonly code: string
    readonly level: "error" | "warning" | "info"
    readonly path: string | null
    readonly rules: ReadonlyArray<string>
    readonly message: string
    readonly example: JsonObjectInput | null
  }>
  readonly proved: ReadonlyArray<string>
  readonly sentences: ReadonlyArray<string>
}

/** What one version changes against another. */
export interface DiffInfo {
  readonly from: number
  readonly to: number
  readonly change: "equal" | "tightening_only" | "loosens" | "unknown"
  readonly sentence: string
  readonly transitions: ReadonlyArray<{
    readonly from: Outcome
    readonly to: Outcome
    readonly direction: "loosens" | "tightens"
    readonly share: string | null
    readonly example: JsonObjectInput
    readonly history_count: number | null
  }>
}

/**
 * What recorded evaluations would have come to under a draft. It authorises nothing; `not_replayable` counts by reason.
 */
export interface BacktestInfo {
  readonly from_seq: number
  readonly to_seq: number
  readonly meters: "recorded" | "counterfactual"
  readonly total: number
  readonly classes: {
    readonly [Class in "unchanged" | "newly_allowed" | "newly_reviewed" | "newly_denied" | "newly_halted"]: number
  }
  readonly not_replayable: { readonly [reason: string]: number }
  readonly transitions: ReadonlyArray<{
    readonly from: Outcome
    readonly to: Outcome
    readonly count: number
    readonly evaluation_ids: ReadonlyArray<string>
  }>
  readonly from_at: string | null
  readonly to_at: string | null
}

/** An exception to one rule, for a time. `unless` and `reason` are null once their part was erased. */
export interface WaiverInfo {
  readonly id: string
  readonly envelope_id: string
  readonly version: number
  readonly rule_id: string
  readonly status: "requested" | "granted" | "expired"
  readonly unless: ReadonlyArray<unknown> | null
  readonly reason: string | null
  readonly requested_by: string
  readonly granted_by: string | null
  readonly expires_at: string
}

/** Where the note of a voided evaluation landed. */
export interface VoidInfo {
  readonly evaluation_id: string
  readonly seq: number
  readonly record_hash: string
  readonly duplicate: boolean
}

/** Envelopes: how far agents may go alone. */
export interface EnvelopesClient {
  /** Begins an envelope for one agent or one org unit, as a draft. */
  create(
    input: {
      readonly name: string
      readonly agent_id?: string | null | undefined
      readonly org_unit?: string | null | undefined
      readonly envelope: JsonObjectInput
    },
    options?: ActOptions
  ): Promise<EnvelopeInfo>
  update(
    id: string,
    change: { readonly envelope: JsonObjectInput; readonly if_revision?: number | null | undefined },
    options?: ActOptions
  ): Promise<EnvelopeInfo>
  get(id: string, options?: CallOptions): Promise<EnvelopeInfo>
  /** Oldest first; all of them where no `limit` is given. `after`: the last one seen. */
  list(
    filter?: {
      readonly agent_id?: string | undefined
      readonly limit?: number | undefined
      readonly after?: string | undefined
    },
    options?: CallOptions
  ): Promise<ReadonlyArray<EnvelopeInfo>>
  /**
   * Everything that is wrong or odd about the draft, or about another text in its place. Codes that are acknowledged
   * may stay open.
   *
   * Each writer may have 8 lints, diffs and backtests under way, and 8 publications: beyond, `examination_queue_full`.
   */
  lint(
    id: string,
    instead?: {
      readonly envelope?: JsonObjectInput | null | undefined
      readonly acknowledge_partial?: ReadonlyArray<string> | null | undefined
    },
    options?: ActOptions
  ): Promise<LintInfo>
  /**
   * What recorded evaluations would have come to under the draft; with meters as recorded, or filled by what the draft
   * lets through.
   */
  backtest(
    id: string,
    over?: {
      readonly from_seq?: number | null | undefined
      readonly to_seq?: number | null | undefined
      readonly meters?: "recorded" | "counterfactual" | null | undefined
    },
    options?: ActOptions
  ): Promise<BacktestInfo>
  /**
   * Puts the draft in force, or on trial. What it newly allows needs a writer who is none of its authors: else
   * `second_approver_required`.
   */
  publish(
    id: string,
    how?: {
      readonly mode?: "enforced" | "shadow" | null | undefined
      readonly if_revision?: number | null | undefined
      readonly acknowledge_partial?: ReadonlyArray<string> | null | undefined
    },
    options?: ActOptions
  ): Promise<EnvelopeVersionInfo>
  /** Nothing is in force any more, and everything is denied. */
  withdraw(
    id: string,
    why?: { readonly reason?: string | null | undefined },
    options?: ActOptions
  ): Promise<EnvelopeInfo>
  /** Oldest first. */
  versions(id: string, options?: CallOptions): Promise<ReadonlyArray<EnvelopeVersionInfo>>
  version(id: string, version: number, options?: CallOptions): Promise<EnvelopeVersionInfo>
  /** `from` 0 is before the first version, `to` 0 the draft; left out, the version in force against the draft. */
  diff(
    id: string,
    versions?: { readonly from?: number | undefined; readonly to?: number | undefined },
    options?: ActOptions
  ): Promise<DiffInfo>
}

/** Waivers: exceptions to one rule of the version in force, for 90 days at most, by two people. */
export interface WaiversClient {
  /** Asks for one. `unless` is a list of conditions, as in a rule. */
  request(
    envelopeId: string,
    input: {
      readonly rule_id: string
      readonly unless: ReadonlyArray<unknown>
      readonly expires_at: string
      readonly reason: string
    },
    options?: ActOptions
  ): Promise<WaiverInfo>
  /** Grants one that another writer asked for: else `second_approver_required`. It holds from then on. */
  grant(envelopeId: string, waiverId: string, options?: ActOptions): Promise<WaiverInfo>
  /** Oldest first. */
  list(envelopeId: string, options?: CallOptions): Promise<ReadonlyArray<WaiverInfo>>
}
