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
