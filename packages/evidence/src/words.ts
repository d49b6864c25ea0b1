/** Closed lists of words that records and the wire share, each once. Spec: house section 2. */

/** Plans of platform keys. Spec: document 2 section 8. */
export const plans = ["free", "starter", "growth", "enterprise", "custom"] as const

/** What a platform key may be used for. `*`: everything but `executions:approve`. Spec: document 2 section 5. */
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
 * What counts show of a ratio of rates against a limit: its interval lies wholly below, wholly at or above, or contains
 * it. Spec: format 1 section 8, `fairness.screened`.
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
