/** Closed lists of words that records and the wire share, each once. Spec: house section 2. */

/** Plans of platform keys. Spec: document 2 section 8. */
export const plans = ["free", "starter", "growth", "enterprise", "custom"] as const

/** Uses of a platform key. `*`: everything but `executions:approve`. Spec: document 2 section 5. */
export const platformScopes = [
  "*",
  "usage:read",
  "webhooks:manage",
  "events:read",
  "fairness:read",
  "fairness:write",
  "monitoring:read",
  "monitoring:write",
  "workflows:read",
  "workflows:write",
  "executions:approve",
  "gateway:write",
  "documents:read",
  "documents:write",
  "documents:reveal",
  "fleet:read",
  "fleet:write"
] as const

/** Where the outcome of a screened decision stands. Spec: format 1 section 8, `fairness.screened`. */
export const outcomeSources = ["labels", "evaluation", "status"] as const

/**
 * Verdicts of counts on a ratio of rates against a limit: its interval lies wholly below, wholly at or above, or
 * contains it. Spec: format 1 section 8, `fairness.screened`.
 */
export const rateVerdicts = ["demonstrated", "not_demonstrated", "insufficient_evidence"] as const

/** Why no ratio of rates is defined. Spec: format 1 section 8, `fairness.screened`. */
export const undefinedRatios = ["no_groups", "one_group", "no_positive_outcomes"] as const

/** Why a metric of an analysis does not exist. Spec: format 1 section 8, `analysis.completed`. */
export const undefinedMetrics = [
  "no_label",
  "no_groups",
  "one_group",
  "no_positive_labels",
  "no_negative_labels",
  "no_positive_predictions",
  "no_negative_predictions"
] as const

/** Why an analysis failed. Spec: format 1 section 8, `analysis.failed`. */
export const analysisFailures = ["no_metric", "interrupted"] as const

/** Measures of a monitor. Spec: api.md "Document 2". */
export const monitorMetrics = [
  "error_rate",
  "latency_p95",
  "prediction_rate",
  "score_mean",
  "volume",
  "label_accuracy",
  "drift_psi",
  "missing_rate"
] as const

/** On which side of its threshold a value is a breach. */
export const monitorComparators = ["above", "below"] as const

/** `threshold`: the value of the window. `anytime`: a wager against the threshold, with a bound on false alarms. */
export const monitorModes = ["threshold", "anytime"] as const

/** Acts of a monitor when nothing comes any more. */
export const noDataActions = ["keep", "alert", "resolve"] as const

/** Why an alert began. */
export const alertCauses = ["threshold", "no_data"] as const

/** Why an alert ended. */
export const alertReasons = ["recovered", "data", "no_data", "monitor_deleted"] as const

/** Types of documents. Spec: document 2 section 2, "Extraction". */
export const documentTypes = [
  "invoice",
  "credit_note",
  "receipt",
  "bank_statement",
  "identity_document",
  "contract",
  "unknown"
] as const

/** Warnings about a document before somebody trusts it. */
export const documentWarnings = [
  "hidden_text",
  "script",
  "launch_action",
  "attachment",
  "xml_differs_from_print",
  "readers_differ",
  "ungrounded",
  "model_failed",
  "checksum",
  "arithmetic",
  "partly_read",
  "recognised_text",
  "text_not_kept"
] as const

/** Why a document was not read. Spec: format 1 section 8, `extraction.failed`. */
export const extractionFailures = [
  "encrypted",
  "malformed",
  "too_large",
  "too_slow",
  "too_much_memory",
  "no_text",
  "unsupported_type",
  "interrupted"
] as const

/** Why a plan of routes failed. Spec: format 1 section 8, `route_plan.failed`. */
export const routePlanFailures = ["cancelled", "interrupted", "not_valid"] as const

/** Where the distances of a plan of routes come from. Spec: format 1 section 8, `route_plan.completed`. */
export const distanceSources = ["great_circle", "matrix"] as const

/** The first constraint that excludes a job from a plan of routes, in this order. */
export const unassignedReasons = [
  "pinned",
  "skills",
  "capacity",
  "unreachable_in_time",
  "distance",
  "duration",
  "no_feasible_vehicle"
] as const

/** Outcomes of an evaluation, least restrictive first. Spec: `envelope/1` section 1. */
export const outcomes = ["allow", "allow_with_notice", "require_review", "deny", "halt"] as const

/** Statuses of a review. Spec: decision 0049. */
export const reviewStatuses = ["open", "claimed", "resolved", "expired", "cancelled"] as const

/** Answers of people. `amend`: the agent should request something else. */
export const reviewResolutions = ["approve", "reject", "amend"] as const

/** Why a review is over without an answer. */
export const reviewCancelCauses = ["killed", "superseded", "withdrawn"] as const

/** Responses, least restrictive first. Spec: document 1 section 2 shows `halt`; decision 0047. */
export const killResponses = ["notify", "step_down", "drain", "halt", "quarantine"] as const

/** Types of targets that records and events name. */
export const killTargetTypes = ["agent", "model", "org_unit", "deployment"] as const

/** Statuses of an agent. Spec: document 1 section 3. */
export const agentStatuses = ["draft", "active", "suspended", "decommissioned"] as const

/** Why an agent is suspended. */
export const suspensionCauses = ["manual", "orphan_grace", "recert_overdue", "breaker", "kill"] as const

/**
 * Effects of a trip: `shadow` records it, `warn` reports it too, `enforce` activates the kill switch as well. Spec:
 * decision 0044.
 */
export const breakerModes = ["shadow", "warn", "enforce"] as const

/** How a server is reached; `named`: nobody says how, and it is known by the name that its client gives it. */
export const mcpTransports = ["stdio", "http", "named"] as const

/** Layers of a tool: what a model reads, what it may send, what the tool says of its effects, and the rest. */
export const mcpLayers = ["text", "contract", "hints", "decoration"] as const

/** Changes of a tool. */
export const mcpChanges = ["added", "removed", "modified", "renamed", "first_seen", "unreadable"] as const

/** Severities of a finding. */
export const findingSeverities = ["high", "medium", "low"] as const

/** Signals in a text. */
export const mcpSignals = [
  "pseudo_tag",
  "conceal",
  "secret_path",
  "precondition",
  "redirect",
  "override",
  "hidden_characters",
  "padding"
] as const

/** Triggers of a response. Spec: decision 0046. */
export const policyTriggers = [
  "breaker",
  "drift",
  "mcp",
  "orphan",
  "recert",
  "manual",
  "agent_request",
  "review"
] as const

/** Kinds of decisions. Spec: format 1 section 8, `decision.witnessed`. */
export const decisionKinds = [
  "tool_call",
  "tool_list",
  "model_call",
  "message",
  "handoff",
  "approval",
  "other"
] as const

/** Metrics of an analysis whose value is a difference of rates. Spec: format 1 section 8, `analysis.completed`. */
export const fairnessMetrics = ["demographic_parity", "equalized_odds", "calibration"] as const
