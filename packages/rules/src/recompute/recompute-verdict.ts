/** Verdicts of recomputation on a recorded evaluation. Spec: envelopes.md 3.8; decision 0026. */
/**
 * Verdicts on a recorded evaluation. `as_recorded`: it follows from its own members, which no record shown confirms.
 * `withheld`: records or parts that the check needs are not shown, and those shown agree. Spec: decision 0026.
 */
export const recomputeVerdicts = [
  "ok",
  "envelope_unknown",
  "envelope_not_in_force",
  "signal_invalid",
  "tier_mismatch",
  "meter_mismatch",
  "rule_mismatch",
  "outcome_mismatch",
  "trace_mismatch",
  "advice_mismatch",
  "id_mismatch",
  "made_twice",
  "ended_twice",
  "reference_mismatch",
  "review_mismatch",
  "approval_reused",
  "self_approved",
  "approved_other_action",
  "expired_approval",
  "writer_mismatch",
  "killed_but_allowed",
  "activation_mismatch",
  "release_not_allowed",
  "acknowledgement_mismatch",
  "response_mismatch",
  "breaker_value_mismatch",
  "trip_missing",
  "drill_result_mismatch",
  "eval_mismatch",
  "drift_mismatch",
  "manifest_mismatch",
  "fairness_mismatch",
  "execution_mismatch",
  "analysis_mismatch",
  "route_mismatch",
  "extraction_mismatch",
  "alert_mismatch",
  "positions_mismatch",
  "gateway_mismatch",
  "standing_approval_mismatch",
  "standing_approval_too_wide",
  "time_mismatch",
  "part_mismatch",
  "rules_mismatch",
  "not_judged",
  "local_verdict_mismatch",
  "local_verdict_not_allowed",
  "as_recorded",
  "withheld"
] as const

/** One of {@link recomputeVerdicts}. */
export type RecomputeVerdict = (typeof recomputeVerdicts)[number]

/**
 * Result for one evaluation, or for another record that is wrong by itself: that one names no evaluation by its id, and
 * no agent where it has none. `reason` says what was expected and what was seen; it never shows a signal. Spec:
 * decision 0026.
 */
export interface Recomputed {
  readonly seq: number
  readonly evaluationId: string
  readonly agentId: string
  readonly verdict: RecomputeVerdict
  readonly reason: string | null
  /** True when it was made long before it was recorded. */
  readonly isLate: boolean
  /** A verdict that the agent's SDK gave alone, in the record of a decision. */
  readonly isLocal?: true
  /** Why it is `withheld`, where that is not that something is not shown. */
  readonly because?: OpenReason
}

/**
 * `budget`: the work of one recomputation was spent. `late`: a record says a time long before its own. `key`: its key
 * had ended long before. Spec: decisions 0026 and 0061.
 */
export type OpenReason = "budget" | "key" | "late"

/**
 * A contradiction in an evaluation, or an unknown. `amountsHold`: what it adds to meters was recomputed all the
 * same.
 */
export interface Problem {
  readonly verdict: Exclude<RecomputeVerdict, "ok">
  readonly reason: string
  readonly amountsHold?: true
  readonly because?: OpenReason
}

/** True when nothing was found to be wrong, and not everything to be right. */
export const isOpen = ({ verdict }: { readonly verdict: string }): boolean =>
  verdict === "as_recorded" || verdict === "withheld"

/** A verdict with its reason. */
export const problem = (verdict: Problem["verdict"], reason: string): Problem => ({ verdict, reason })

/** Picks the finding that a result names: a contradiction before what is open, then in the order of the list. */
export const ranked = <F extends { readonly verdict: string }>(found: ReadonlyArray<F>): F | null =>
  found.find((one) => !isOpen(one)) ?? found[0] ?? null
