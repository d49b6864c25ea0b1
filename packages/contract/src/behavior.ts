/** Behaviour change on the wire. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073. */
import { Schema } from "effect"
import { integerParam, leftOut, oneOf } from "./foundation/fields.ts"
import type { Info } from "./foundation/plain.ts"

/** Answers of a test of change. */
export const changeStatuses = ["ok", "insufficient_data", "underpowered"] as const

/** Verdicts of a test of change. That nothing was found is never said to be that nothing changed. */
export const changeVerdicts = ["changed", "no_change_detected"] as const

/** Units that the test exchanges. `decision_assumed`: no decision names its run. */
export const changeUnits = ["run", "decision_assumed"] as const

/** Measures of the difference of a dimension. */
export const changeMetrics = [
  "run_presence",
  "run_share",
  "run_median",
  "distance_from_median",
  "missing_share"
] as const

/** Dimensions of behaviour. */
export const driftDimensions = [
  "action",
  "tool_server",
  "kind",
  "outcome",
  "sequence",
  "latency_ms",
  "cost_micro_usd",
  "tokens",
  "run_length"
] as const

/** Query of GET /behavior/agents/{agent_id}/change. */
export const ChangeQuery = Schema.Struct({
  /** Decisions that are read, 10 to 2,000, default 200. */
  lookback: leftOut(integerParam(10, 2_000), 200),
  /** Decisions of each of the two windows, 5 to 1,000: at most half of `lookback`, which is the default. */
  window: Schema.optionalKey(integerParam(5, 1_000))
})
export type ChangeQuery = typeof ChangeQuery.Type

const count = Schema.Int
const orNull = Schema.NullOr
const measure = orNull(Schema.Number)

const ChangeWindow = orNull(Schema.Struct({ from_seq: count, to_seq: count, decisions: count, runs: count }))

/** A value that only one side has: a fact, and no part of the test. */
const ListedValue = Schema.Struct({
  dimension: Schema.String,
  value: orNull(Schema.String),
  first_seq: count,
  record_hash: Schema.String
})

const DimensionChange = Schema.Struct({
  name: oneOf(driftDimensions),
  kind: oneOf(["categorical", "numeric"]),
  /** `constant`: every run is alike. `no_values`: no decision says it. */
  status: oneOf(["ok", "constant", "no_values"]),
  p: measure,
  /** With the chance of a false finding held over all dimensions together. */
  p_adjusted: measure,
  changed: orNull(Schema.Boolean),
  /** Changed, and by a tenth of all runs or more, or by a fifth of the earlier median. */
  material: orNull(Schema.Boolean),
  effect: orNull(
    Schema.Struct({
      metric: oneOf(changeMetrics),
      /** One name, the two of a sequence, or none: the pool of those that one run has. Null for numbers. */
      component: orNull(Schema.Array(orNull(Schema.String))),
      baseline: measure,
      current: measure,
      difference: measure,
      ci95: orNull(Schema.Array(Schema.Number)),
      /** Decisions that show it, at most five. */
      seqs: Schema.Array(count)
    })
  ),
  /** The smallest difference that is found with a chance of 80 %. */
  mde: measure,
  distances: orNull(
    Schema.Struct({
      js: Schema.Number,
      js_null_mean: Schema.Number,
      js_null_q95: Schema.Number,
      psi: Schema.Number,
      psi_null_mean: Schema.Number,
      psi_null_q95: Schema.Number
    })
  )
})

/**
 * The last window of an agent's decisions against the window before it. Numbers that are no counts have six significant
 * digits. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073.
 */
export const BehaviorChange = Schema.Struct({
  agent_id: Schema.String,
  /** Records up to this one count. */
  as_of_seq: count,
  status: oneOf(changeStatuses),
  verdict: orNull(oneOf(changeVerdicts)),
  /** How much is missing; null where nothing is. */
  missing: orNull(Schema.Struct({ decisions: count, runs: orNull(count) })),
  params: Schema.Struct({
    lookback: count,
    window: count,
    alpha: Schema.Number,
    permutations: count,
    method: Schema.String
  }),
  unit: orNull(oneOf(changeUnits)),
  /** The smallest p-value that so many runs can have. */
  min_attainable_p: measure,
  baseline: ChangeWindow,
  current: ChangeWindow,
  dimensions: Schema.Array(DimensionChange),
  /** Values of the current window that no decision before it has, as far as they were read. */
  novel: Schema.Array(ListedValue),
  /** Values of the window before that the current one does not have. */
  vanished: Schema.Array(ListedValue),
  /** Records since the begin of the window before that may be the cause. */
  annotations: Schema.Array(Schema.Struct({ seq: count, kind: Schema.String })),
  /** The inputs that determine the permutations. */
  verification: Schema.Struct({
    seed: orNull(Schema.String),
    newest_seq: orNull(count),
    newest_record_hash: orNull(Schema.String)
  })
})
export type BehaviorChange = typeof BehaviorChange.Type

/** The result of comparing two windows. */
export interface BehaviorChangeInfo extends Info<typeof BehaviorChange> {}
