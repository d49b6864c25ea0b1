/** Usage and limits of a caller of the platform API. Spec: document 2 sections 2 and 8. */
import { Schema } from "effect"
import { oneOf } from "../foundation/fields.ts"
import { plans } from "./plans.ts"

/** Answer of GET /v1/usage. A limit is null where the plan has none. Spec: document 2 section 2, "Usage". */
export const MonthUsage = Schema.Struct({
  /** Month of UTC: `2026-11`. */
  period: Schema.String,
  documents_processed: Schema.Int,
  documents_limit: Schema.NullOr(Schema.Int),
  tokens_used: Schema.Int,
  tokens_limit: Schema.NullOr(Schema.Int),
  storage_used_gb: Schema.Number,
  storage_limit_gb: Schema.NullOr(Schema.Number)
})
export type MonthUsage = typeof MonthUsage.Type

const Policy = Schema.Struct({
  name: Schema.String,
  limit: Schema.Int,
  /** Seconds, or the day of UTC. */
  window: Schema.Union([Schema.Int, Schema.Literal("day")]),
  remaining: Schema.Int,
  /** Seconds since 1970 UTC. */
  reset: Schema.Int
})

/**
 * Answer of GET /v1/limits: the caller's plan, what is left of it, and the limits of operations. The request that asks
 * is counted. Spec: document 2 section 8.
 */
export const CallerLimits = Schema.Struct({
  plan: oneOf(plans),
  requests: Schema.Array(Policy),
  concurrent: Schema.Int,
  concurrent_runs: Schema.Int,
  operations: Schema.Array(
    Schema.Struct({
      operation: Schema.String,
      limit: Schema.Int,
      window: Schema.Union([Schema.Int, Schema.Literal("day")]),
      /** The member of the body whose values are limited one by one. */
      per: Schema.NullOr(Schema.String)
    })
  )
})
export type CallerLimits = typeof CallerLimits.Type
