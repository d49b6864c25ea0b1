/** Circuit breakers as they travel. Spec: document 1 section 2, Circuit breaker record; api.md "bounded autonomy". */
import { breakerModes } from "@flyball/evidence/words"
import { Schema } from "effect"
import {
  defaulted,
  identifier,
  instant,
  integer,
  jsonObjectUpTo,
  list,
  oneOf,
  optional,
  patterned,
  reason
} from "./foundation/fields.ts"
import { killResponses } from "./kill.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, computed, inBody, inDocument, showsRecords, wholePart } from "./foundation/place.ts"

export { breakerModes }

/** Mode of a breaker: the effect of a trip. */
export type BreakerModeName = (typeof breakerModes)[number]

/** Response that a breaker requests when it trips, weakest first. */
export type BreakerResponseName = (typeof killResponses)[number]

/** States of a breaker: it watches, or waits for a person to release it. */
export const breakerStates = ["armed", "tripped"] as const

/** The state of a breaker: it watches, or waits for its release. */
export type BreakerState = (typeof breakerStates)[number]

/** Confidence levels of the one-sided Wilson bound, in hundredths of a percent; 0 compares the share itself. */
const breakerConfidences = [0, 9_000, 9_500, 9_900] as const

/** Characters of the parameters' JSON text. */
const PARAMS_LIMIT = 4_096

/** By name, as the metric takes them: integers, names and words. */
const params = jsonObjectUpTo(PARAMS_LIMIT)
const metric = identifier(64)
const confidence = Schema.Literals(breakerConfidences)

/** A bound on false stops. Unit: hundredths of a percent. */
const maxFalseStop = integer(1, 5_000)

/** Runs that a person marks good: all in a range of records, but these. Spec: decision 0075. */
export const GoodRunsIn = Schema.Struct({
  /** The first and the last record; up to 20,000 decisions and settlements of the agent. */
  from_seq: integer(),
  to_seq: integer(),
  /** Up to 1,000 ids of runs that are not good. */
  except: optional(list(identifier(200), 0, 1_000))
})
export type GoodRunsIn = typeof GoodRunsIn.Type

/** Body of POST /bound/agents/{agent_id}/breakers. Spec: decision 0044. */
export const BreakerCreate = Schema.Struct({
  /** Unique among the agent's breakers. What it activates is written by `breaker:<name>`. */
  name: inBody(patterned(/^[a-z0-9_-]{1,64}$/, 64)),
  metric: inBody(metric),
  params: inBody(params),
  enabled: inBody(defaulted(Schema.Boolean, true)),
  mode: inBody(defaulted(oneOf(breakerModes), "enforce")),
  /** For shares alone: 9000, 9500 or 9900 trips on the lower Wilson bound, 0 on the share itself. */
  confidence_bp: inBody(optional(confidence)),
  /** Left out, the response policy's for `breaker` counts, and `halt` where it has none. */
  response: inBody(optional(oneOf(killResponses))),
  /**
   * Sets the threshold in place of its parameter, so that at most this share of good runs trips the breaker. For
   * metrics with `per` `run`, and with `good_runs`.
   */
  max_false_stop_bp: inBody(optional(maxFalseStop)),
  good_runs: inBody(optional(GoodRunsIn))
}).annotate(becomesRecord("breaker.armed"))
export type BreakerCreate = typeof BreakerCreate.Type

/** A breaker to be armed. Metrics and parameters: docs/breakers.md. */
export interface BreakerInput extends Input<typeof BreakerCreate> {}

/**
 * Body of PATCH /bound/breakers/{breaker_id}. What is left out stays; `params` replaces all of them. `response` null
 * leaves it to the response policy.
 */
export const BreakerUpdate = Schema.Struct({
  params: inBody(Schema.optionalKey(params)),
  enabled: inBody(Schema.optionalKey(Schema.Boolean)),
  mode: inBody(Schema.optionalKey(oneOf(breakerModes))),
  confidence_bp: inBody(Schema.optionalKey(confidence)),
  response: inBody(optional(oneOf(killResponses)))
}).annotate(becomesRecord("breaker.changed"))
export type BreakerUpdate = typeof BreakerUpdate.Type

/** Change of a breaker. A member left out keeps its value; `params` are replaced as a whole. */
export interface BreakerChange extends Input<typeof BreakerUpdate> {}

/** Body of POST /bound/breakers/{breaker_id}/release. */
export const BreakerReleaseIn = Schema.Struct({ reason: wholePart("reason", optional(reason(2_000))) }).annotate(
  becomesRecord("breaker.released")
)
export type BreakerReleaseIn = typeof BreakerReleaseIn.Type

/** Why a breaker is released. */
export interface BreakerRelease extends Input<typeof BreakerReleaseIn> {}

/**
 * A breaker. `last_value` and `last_checked_at` are of its last reading; null before the first. `fired_event_id` is the
 * activation that its trip caused, until it is released. Spec: document 1 section 2, "Circuit breaker record"; decision
 * 0044.
 */
export const Breaker = Schema.Struct({
  id: inBody(Schema.String, "breaker_id"),
  agent_id: inBody(Schema.String),
  name: inBody(Schema.String),
  metric: inBody(Schema.String),
  params: inBody(Schema.Record(Schema.String, Schema.Union([Schema.Int, Schema.String]))),
  enabled: inBody(Schema.Boolean),
  created_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  last_checked_at: computed(Schema.NullOr(instant)),
  last_value: inBody(Schema.NullOr(Schema.String), "value"),
  fired_event_id: inBody(Schema.NullOr(Schema.String), "activation_id"),
  mode: inBody(oneOf(breakerModes)),
  confidence_bp: inBody(Schema.Int),
  response: inBody(Schema.NullOr(oneOf(killResponses))),
  state: inDocument(oneOf(breakerStates)),
  /** When it tripped; null while it is armed. */
  tripped_at: inDocument(Schema.NullOr(instant)),
  /** With `good_runs`: the bound that its threshold keeps, in hundredths of a percent. Null without one. */
  max_false_stop_bp: inBody(Schema.NullOr(Schema.Int)),
  good_runs: inBody(Schema.NullOr(Schema.Struct({ from_seq: Schema.Int, to_seq: Schema.Int, runs: Schema.Int })))
}).annotate(
  showsRecords(["breaker.armed", "breaker.changed", "breaker.tripped", "breaker.released"], {
    body: ["as_of_ms", "as_of_seq", "from_seq", "samples", "to_seq"],
    parts: ["good_runs", "reason"]
  })
)
export type Breaker = typeof Breaker.Type

/** A breaker. Spec: document 1 section 2, "Circuit breaker record"; decision 0044. */
export interface BreakerInfo extends Info<typeof Breaker> {}

/**
 * One reading of POST /bound/breakers/check. `tripped`: it stands tripped, by this reading or an earlier one. Spec:
 * document 1 section 4, POST /bound/breakers/check.
 */
export const BreakerCheckOut = Schema.Struct({
  breaker_id: Schema.String,
  agent_id: Schema.String,
  name: Schema.String,
  metric: Schema.String,
  value: Schema.String,
  samples: Schema.Int,
  tripped: Schema.Boolean,
  fired_event_id: Schema.NullOr(Schema.String)
})
export type BreakerCheckOut = typeof BreakerCheckOut.Type

/** One reading of a check. */
export interface BreakerReading extends Info<typeof BreakerCheckOut> {}

/** Body of POST /bound/agents/{agent_id}/breakers/preview: a breaker to preview, and the length of history. */
export const BreakerPreviewIn = Schema.Struct({
  metric,
  params,
  confidence_bp: optional(confidence),
  /** With `enabled`, `mode` and `response`: read and not needed, so that the body that arms a breaker previews it. */
  name: optional(BreakerCreate.fields.name),
  enabled: Schema.optionalKey(Schema.Boolean),
  mode: Schema.optionalKey(oneOf(breakerModes)),
  response: optional(oneOf(killResponses)),
  max_false_stop_bp: optional(maxFalseStop),
  good_runs: optional(GoodRunsIn),
  /** The record to begin with; left out, the last 20,000 of the agent are read. */
  from_seq: optional(integer())
})
export type BreakerPreviewIn = typeof BreakerPreviewIn.Type

/** A breaker to preview. */
export interface BreakerTrial extends Input<typeof BreakerPreviewIn> {}

/**
 * Trips that the breaker would have had over the agent's sealed records. Each counts as released at once. `values` are
 * up to 200 points spread over the records, `trips` the first 1,000 of `trip_count`. Spec: decision 0044.
 */
export const BreakerPreviewOut = Schema.Struct({
  trips: Schema.Array(Schema.Struct({ seq: Schema.Int, at: instant, value: Schema.String, samples: Schema.Int })),
  trip_count: Schema.Int,
  values: Schema.Array(Schema.Struct({ seq: Schema.Int, at: instant, value: Schema.String })),
  from_seq: Schema.NullOr(Schema.Int),
  to_seq: Schema.NullOr(Schema.Int),
  /** With `max_false_stop_bp`: the threshold that the good runs set, and the bound that so many of them keep. */
  calibration: Schema.NullOr(
    Schema.Struct({ parameter: Schema.String, threshold: Schema.Int, runs: Schema.Int, kept_bp: Schema.Int })
  )
})
export type BreakerPreviewOut = typeof BreakerPreviewOut.Type

/** Result of a preview: the trips that a breaker would have had. */
export interface BreakerPreviewInfo extends Info<typeof BreakerPreviewOut> {}
