/** Usage of agents on the wire. Spec: document 1 section 4, GET /bound/telemetry/usage; envelopes.md 3.12. */
import { Schema } from "effect"
import { instant } from "./foundation/fields.ts"
import type { Info } from "./foundation/plain.ts"
import { killTargetTypes } from "./kill.ts"

/** Query of GET /bound/telemetry/usage. A time in the future means now. */
export const TelemetryQuery = Schema.Struct({
  /** Records from this time on. Default: 30 days before `to`. */
  from: Schema.optionalKey(instant),
  /** Records before this time. Default: now. */
  to: Schema.optionalKey(instant)
})
export type TelemetryQuery = typeof TelemetryQuery.Type

/** Tokens and their cost. Costs are millionths of a US dollar. */
const usageMembers = {
  input_tokens: Schema.Int,
  output_tokens: Schema.Int,
  /** At the prices in force when the usage was recorded; null where no token had a price. */
  cost_micro_usd: Schema.NullOr(Schema.Int),
  /** Tokens without a price. They are not in the cost. */
  unpriced_tokens: Schema.Int,
  /** Sum of the costs that callers stated. Unit: millionths of a US dollar. */
  stated_cost_micro_usd: Schema.Int
} as const

/**
 * An agent's usage of one model. `model` is as its decisions name it; null where they name none. Spec: document 1
 * section 4, GET /bound/telemetry/usage; decision 0051.
 */
export const ModelUsage = Schema.Struct({ model: Schema.NullOr(Schema.String), ...usageMembers })

/** Nearest-rank percentiles. Unit: milliseconds. Null where there is no value. */
const Percentiles = Schema.Struct({ p50: Schema.NullOr(Schema.Int), p95: Schema.NullOr(Schema.Int) })

/** Evaluations by outcome. */
export const OutcomeCounts = Schema.Struct({
  allow: Schema.Int,
  allow_with_notice: Schema.Int,
  require_review: Schema.Int,
  deny: Schema.Int,
  halt: Schema.Int
})

/** Figures of reviews. */
export const ReviewFigures = Schema.Struct({
  opened: Schema.Int,
  approved: Schema.Int,
  rejected: Schema.Int,
  amended: Schema.Int,
  expired: Schema.Int,
  cancelled: Schema.Int,
  /** From opening a review until people ended it. */
  wait_ms: Percentiles,
  /** Of each answer: since the review was shown to that person, or else claimed by that person, or else opened. */
  decision_ms: Percentiles,
  /** Rejected among those that people ended. Unit: hundredths of a percent. */
  overturn_bp: Schema.NullOr(Schema.Int),
  /** Approvals of a person in less than 5 s. */
  approvals_under_5s: Schema.Int,
  /** Open at the end of the window. */
  open: Schema.Int,
  /** Age of the oldest of them. */
  oldest_open_ms: Schema.NullOr(Schema.Int)
})

/** Usage of one agent. */
export const AgentUsage = Schema.Struct({
  agent_id: Schema.String,
  decisions: Schema.Int,
  evaluations: OutcomeCounts,
  ...usageMembers,
  models: Schema.Array(ModelUsage),
  reviews: ReviewFigures
})

/** An incident that is open at the end of the window. */
export const OpenIncident = Schema.Struct({
  target_type: Schema.Literals(killTargetTypes),
  target_id: Schema.String,
  activated_at: instant,
  age_ms: Schema.Int
})

/**
 * Incidents: times in which an activation of the kill switch held for a target, drills left out. Times are whole
 * milliseconds, null where no incident has one. Open incidents are never averaged. Spec: document 1 section 4, GET
 * /bound/telemetry/usage; decision 0051.
 */
export const IncidentFigures = Schema.Struct({
  /** Released in the window. */
  count: Schema.Int,
  /** From activation to release: mean, median and longest of these. */
  mttr_ms: Schema.NullOr(Schema.Int),
  median_ms: Schema.NullOr(Schema.Int),
  max_ms: Schema.NullOr(Schema.Int),
  /**
   * Mean from onset to activation of the incidents activated in the window: the first record in the window of the
   * breaker that tripped, or the request of an agent. Others have no onset.
   */
  mttd_ms: Schema.NullOr(Schema.Int),
  /**
   * Mean from activation to containment of those activated in the window: as many instances had acknowledged as were
   * expected, or 15 s were over, or it was released.
   */
  mttc_ms: Schema.NullOr(Schema.Int),
  /** Oldest first. */
  open_incidents: Schema.Array(OpenIncident)
})

/**
 * Answer of GET /bound/telemetry/usage. `to` is exclusive. Spec: document 1 section 4, GET /bound/telemetry/usage;
 * decision 0051.
 */
export const TelemetryOut = Schema.Struct({
  from: instant,
  to: instant,
  /** The last record before `to`; null where there is none. */
  as_of_seq: Schema.NullOr(Schema.Int),
  /** Agents with any figure, by id. */
  agents: Schema.Array(AgentUsage),
  /** Of all of them. */
  reviews: ReviewFigures,
  incident: IncidentFigures
})
export type TelemetryOut = typeof TelemetryOut.Type

/** Usage of agents in a window. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
export interface TelemetryInfo extends Info<typeof TelemetryOut> {}
