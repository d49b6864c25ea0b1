/** Monitors, inferences and alerts as they travel. Spec: document 2 sections 4 and 6; api.md "Document 2". */
import {
  alertCauses,
  alertReasons,
  monitorComparators,
  monitorMetrics,
  monitorModes,
  noDataActions
} from "@flyball/evidence/words"
import { Schema } from "effect"
import {
  check,
  foreignName,
  identifier,
  instant,
  integer,
  leftOut,
  list,
  name,
  oneOf,
  optional,
  patterned
} from "../foundation/fields.ts"
import { listOf, listQuery } from "./list.ts"
import { requestBounds } from "./plans.ts"

export { alertCauses, alertReasons, monitorComparators, monitorMetrics, monitorModes, noDataActions }
export type MonitorMetric = (typeof monitorMetrics)[number]

/** How much an alert matters. */
export const alertSeverities = ["info", "warning", "critical"] as const

/** States of a monitor. `pending`: a breach that has not lasted long enough. */
export const monitorStates = ["ok", "pending", "triggered", "no_data", "deleted"] as const

/** Statuses of an alert. Spec: document 2 section 6. */
export const alertStatuses = ["triggered", "resolved"] as const

/** Bounds of monitoring. Units: as their names say. */
export const monitoringBounds = {
  windowS: { min: 60, max: 86_400, default: 300 },
  /** The longest that a breach, a recovery or silence may have to last. */
  waitS: 604_800,
  clearS: 60,
  minSamples: 30,
  alpha: 0.01,
  /** Largest score, either way. Sums of scores are kept in whole ten-thousandths. */
  score: 10_000,
  latencyMs: 86_400_000,
  features: 100,
  bins: 50,
  /** How far the time of an inference may lie behind the server's, and before it. */
  pastMs: 86_400_000,
  futureMs: 300_000,
  /** How long inferences are kept. No window is longer. */
  keptMs: 86_400_000
} as const

const between = (min: number, max: number) =>
  Schema.Number.check(
    check<number>(
      (value) => value >= min && value <= max,
      { type: "value_error", msg: `Input should be a number from ${min} to ${max}` },
      { minimum: min, maximum: max }
    )
  )
const measure = between(-1e12, 1e12)

const shortText = Schema.String.check(
  check<string>((text) => text.length <= 200 && text.isWellFormed() && !text.includes("\0"), {
    type: "string_too_long",
    msg: "Text should have at most 200 characters, each of them whole",
    ctx: { max_length: 200 }
  })
)
const finite = Schema.Number.check(
  check<number>(Number.isFinite, { type: "value_error", msg: "Input should be a finite number" })
)
const Scalar = Schema.Union([shortText, finite, Schema.Boolean])

const Features = Schema.Record(Schema.String, Schema.NullOr(Scalar)).check(
  check<object>(
    (value) => {
      const names = Object.keys(value)
      return names.length <= monitoringBounds.features && names.every(isFeature)
    },
    { type: "value_error", msg: "At most 100 features, whose names have 1 to 100 letters, digits and ._:-" }
  )
)
const featureForm = /^[A-Za-z0-9._:-]{1,100}$/
const isFeature = (text: string) => featureForm.test(text) && text !== "__proto__"

/** One inference of a model. Spec: api.md "Document 2". */
export const Inference = Schema.Struct({
  model_id: foreignName(200),
  inference_id: identifier(128),
  /** At most a day before the server's time, and five minutes behind it. */
  at: instant,
  features: optional(Features),
  /** Null: the model gave none. */
  prediction: Schema.NullOr(Scalar),
  score: optional(between(-monitoringBounds.score, monitoringBounds.score)),
  /** The right answer, as far as it is known by now. */
  label: optional(Scalar),
  latency_ms: optional(between(0, monitoringBounds.latencyMs)),
  segment: optional(identifier(64)),
  /** The call of the model failed. */
  error: optional(Schema.Boolean)
})
export type Inference = typeof Inference.Type

/** Body of POST /v1/monitoring/inferences. All are taken, or none. Spec: document 2 section 8. */
export const InferencesIn = Schema.Struct({ inferences: list(Inference, 1, requestBounds.inferences) })

/** Answer of the same. `monitors`: those that watch these models, as they are now. */
export const InferencesTaken = Schema.Struct({
  accepted: Schema.Int,
  monitors: Schema.Array(Schema.Struct({ id: Schema.String, state: oneOf(monitorStates) }))
})
export type InferencesTaken = typeof InferencesTaken.Type

/**
 * The reference of `drift_psi`: counts of values, where others are counted together behind them, or of numbers between
 * edges, one more than there are edges.
 */
export const Reference = Schema.Struct({
  values: optional(list(shortText, 1, 49)),
  edges: optional(list(measure, 1, 49)),
  counts: list(integer(0, 1_000_000_000), 2, monitoringBounds.bins)
})
export type Reference = typeof Reference.Type

const { windowS } = monitoringBounds
const seconds = (min: number) => integer(min, monitoringBounds.waitS)

/** Body of POST /v1/monitoring/monitors. Spec: document 2 section 4; api.md "Document 2". */
export const MonitorCreate = Schema.Struct({
  name: name(200),
  model_id: foreignName(200),
  metric: oneOf(monitorMetrics),
  /** `missing_rate`, `drift_psi`: `prediction`, `score` or `features.<name>`. */
  field: optional(patterned(/^(?:prediction|score|features\.[A-Za-z0-9._:-]{1,100})$/, 109)),
  /** `prediction_rate`: the prediction that counts. */
  value: optional(Scalar),
  /** `drift_psi`. */
  reference: optional(Reference),
  /** Only inferences of this segment. */
  segment: optional(identifier(64)),
  comparator: oneOf(monitorComparators),
  threshold: measure,
  /**
   * The threshold that the value must pass for an alert to end; left out: a tenth of the threshold inside it, or less.
   */
  clear_threshold: optional(measure),
  window_s: leftOut(integer(windowS.min, windowS.max), windowS.default),
  /** With fewer in the window nothing is said. */
  min_samples: leftOut(integer(1, 1_000_000), monitoringBounds.minSamples),
  /** How long a breach lasts before it is an alert. */
  pending_s: leftOut(seconds(0), 0),
  /** How long a recovery lasts before it ends one. */
  clear_s: leftOut(seconds(0), monitoringBounds.clearS),
  /** How long nothing comes before that is a state of its own; left out: the window. */
  no_data_s: optional(seconds(60)),
  /** The effect of silence: it keeps an alert as it is, opens one, or ends one. */
  on_no_data: leftOut(oneOf(noDataActions), "keep"),
  severity: leftOut(oneOf(alertSeverities), "warning"),
  /** `anytime`: an alert that is false comes with the chance `alpha` at most, however long the monitor runs. */
  mode: leftOut(oneOf(monitorModes), "threshold"),
  alpha: optional(between(1e-9, 0.5))
})
export type MonitorCreate = typeof MonitorCreate.Type

const nullable = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

/** A monitor. `value_now` and `samples` are of its window when it was last checked. */
export const Monitor = Schema.Struct({
  id: Schema.String,
  model_id: Schema.String,
  name: Schema.String,
  metric: oneOf(monitorMetrics),
  field: nullable(Schema.String),
  value: nullable(Schema.Unknown),
  reference: nullable(Schema.Unknown),
  segment: nullable(Schema.String),
  comparator: oneOf(monitorComparators),
  threshold: Schema.Number,
  clear_threshold: Schema.Number,
  window_s: Schema.Int,
  min_samples: Schema.Int,
  pending_s: Schema.Int,
  clear_s: Schema.Int,
  no_data_s: nullable(Schema.Int),
  on_no_data: oneOf(noDataActions),
  severity: oneOf(alertSeverities),
  mode: oneOf(monitorModes),
  alpha: nullable(Schema.Number),
  state: oneOf(monitorStates),
  state_since: instant,
  value_now: nullable(Schema.Number),
  samples: Schema.Int,
  alert_id: nullable(Schema.String),
  last_data_at: nullable(instant),
  created_at: instant
})
export type Monitor = typeof Monitor.Type

/** Query of GET /v1/monitoring/monitors. */
export const MonitorsQuery = listQuery({})
/** Answer of GET /v1/monitoring/monitors. */
export const MonitorsPage = listOf(Monitor)

/** The counts by which an alert's value is computed again. `log_e` and `log_e_needed`: in mode `anytime`. */
export const AlertEvidence = Schema.Struct({
  window_from: instant,
  window_to: instant,
  samples: Schema.Int,
  counts: Schema.Array(Schema.Int),
  log_e: nullable(Schema.Number),
  log_e_needed: nullable(Schema.Number)
})

/**
 * An alert, from trigger to end under one id. Of the cause `no_data`, `value` and `threshold` are seconds without an
 * inference. Spec: document 2 section 6.
 */
export const Alert = Schema.Struct({
  id: Schema.String,
  monitor_id: Schema.String,
  model_id: Schema.String,
  metric: Schema.String,
  value: Schema.Number,
  threshold: Schema.Number,
  severity: oneOf(alertSeverities),
  message: Schema.String,
  status: oneOf(alertStatuses),
  cause: oneOf(alertCauses),
  created_at: instant,
  triggered_at: instant,
  resolved_at: nullable(instant),
  resolved_because: nullable(oneOf(alertReasons)),
  evidence: AlertEvidence
})
export type Alert = typeof Alert.Type

/** Query of GET /v1/monitoring/alerts. Spec: document 2 section 4. */
export const AlertsQuery = listQuery({ status: Schema.optionalKey(oneOf(alertStatuses)) })
/** Answer of GET /v1/monitoring/alerts. */
export const AlertsPage = listOf(Alert)
