/** Drills as they travel: exercises of the kill switch. Spec: api.md "bounded autonomy"; decision 0048. */
import { Schema } from "effect"
import { defaulted, foreignName, instant, integer, leftOut, oneOf, reason } from "./foundation/fields.ts"
import { drillModes, KillInstanceOut, killTargets, killTargetTypes } from "./kill.ts"
import { pageQuery } from "./foundation/page.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, computed, inBody, showsRecords, wholePart } from "./foundation/place.ts"

/** Status of a drill. */
export const drillStatuses = ["started", "completed", "attested"] as const

/** Longest that a live drill halts before it releases itself. Unit: milliseconds. */
export const MAX_DRILL_MS = 3_600_000
/** Default of `max_duration_ms`. Unit: milliseconds. */
export const DEFAULT_DRILL_MS = 300_000

/** Body of POST /bound/kill/drills. Spec: decision 0048. */
export const DrillIn = Schema.Struct({
  target_type: inBody(oneOf(killTargets)),
  /** An agent's id, or a model: its id or name, exactly as agents name it. */
  target_id: inBody(foreignName(200)),
  /** `shadow`: agents acknowledge and work on. `live`: they really halt. */
  mode: inBody(defaulted(oneOf(drillModes), "shadow")),
  /** Description of the exercise. */
  scenario: wholePart("scenario", reason(2_000)),
  /** The hypothesis: every instance acknowledges within so many milliseconds. */
  slo_ms: inBody(integer(1, MAX_DRILL_MS)),
  /** The stop condition: a live drill releases itself after so many milliseconds. Default 300,000. */
  max_duration_ms: inBody(leftOut(integer(1_000, MAX_DRILL_MS), DEFAULT_DRILL_MS))
}).annotate(becomesRecord("drill.started"))
export type DrillIn = typeof DrillIn.Type

/** Request for a drill: what to exercise. */
export interface DrillInput extends Input<typeof DrillIn> {}

/** Query of GET /bound/kill/drills. */
export const DrillListQuery = pageQuery("drill")
export type DrillListQuery = typeof DrillListQuery.Type

/**
 * Measurements of a drill, from its activation to each acknowledgement. `missed`: expected instances without an answer.
 * `unlisted`: instances that were seen before and are in no list. `met`: somebody acknowledged, nobody was missed, and
 * the longest propagation is within `slo_ms`. Spec: format 1 section 8, `drill.completed`; decision 0048.
 */
export const DrillResultOut = Schema.Struct({
  expected: Schema.Int,
  acknowledged: Schema.Int,
  missed: Schema.Array(KillInstanceOut),
  unlisted: Schema.Int,
  p50_ms: Schema.NullOr(Schema.Int),
  p95_ms: Schema.NullOr(Schema.Int),
  max_ms: Schema.NullOr(Schema.Int),
  met: Schema.Boolean
})

/**
 * A drill. `result` is null until it is completed; until then the activation shows who acknowledged. Spec: decision
 * 0048.
 */
export const DrillOut = Schema.Struct({
  id: inBody(Schema.String, "drill_id"),
  target_type: inBody(oneOf(killTargetTypes)),
  target_id: inBody(Schema.String),
  mode: inBody(oneOf(drillModes)),
  /** Null once it was erased. */
  scenario: wholePart("scenario", Schema.NullOr(Schema.String)),
  slo_ms: inBody(Schema.Int),
  max_duration_ms: inBody(Schema.Int),
  status: computed(oneOf(drillStatuses)),
  activation_event: inBody(Schema.String, "activation_id"),
  started_by: inBody(Schema.String, "writer"),
  started_at: inBody(instant),
  completed_by: computed(Schema.NullOr(Schema.String)),
  completed_at: inBody(Schema.NullOr(instant)),
  result: computed(Schema.NullOr(DrillResultOut)),
  attested_by: computed(Schema.NullOr(Schema.String)),
  attested_at: inBody(Schema.NullOr(instant))
}).annotate(
  showsRecords(["drill.started", "drill.completed", "drill.attested"], {
    body: ["acknowledged", "agent_id", "as_of_seq", "expected", "max_ms", "met", "p50_ms", "p95_ms", "unlisted"],
    parts: ["missed"]
  })
)
export type DrillOut = typeof DrillOut.Type

/**
 * A drill. `result` is null until it is completed. Spec: format 1 section 8, `drill.started` and `drill.completed`;
 * decision 0048.
 */
export interface DrillInfo extends Info<typeof DrillOut> {}

/**
 * The last check of the kill switch's channel. `overdue`: it is older than twice its period. Spec: format 1 section 8,
 * `channel.checked`; decision 0048.
 */
export const ChannelOut = Schema.Struct({
  armed: inBody(Schema.Boolean),
  /** From the activation until the status showed it. Null where it never did. */
  latency_ms: inBody(Schema.NullOr(Schema.Int)),
  checked_at: inBody(instant),
  activation_event: inBody(Schema.String, "activation_id"),
  overdue: computed(Schema.Boolean)
}).annotate(showsRecords(["channel.checked"], { body: ["writer"] }))
export type ChannelOut = typeof ChannelOut.Type
