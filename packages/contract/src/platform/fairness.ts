/** Fairness analyses, explanations and reports as they travel. Spec: document 2 sections 2 and 4; decision 0077. */
import {
  analysisFailures,
  fairnessMetrics,
  rateVerdicts,
  undefinedMetrics,
  undefinedRatios
} from "@flyball/evidence/words"
import { Schema } from "effect"
import { screenedValue } from "../fairness.ts"
import { check, id, identifier, instant, integer, list, name, oneOf, optional } from "../foundation/fields.ts"
import { listOf, listQuery } from "./list.ts"

export { analysisFailures, undefinedMetrics }

/** Statuses of an analysis. The last two are final. Spec: document 2 section 3. */
export const analysisStatuses = ["running", "completed", "failed"] as const
export type AnalysisStatus = (typeof analysisStatuses)[number]

/** Bounds of analyses. Units: as their names say. */
export const analysisBounds = {
  bodyBytes: 16 * 1_048_576,
  protectedColumns: 16,
  features: 20,
  /** The largest difference that is no bias, where a request does not say. */
  tolerance: 0.1,
  threshold: 0.5
} as const

const share = Schema.Number.check(
  check<number>(
    (value) => value >= 0 && value <= 1,
    { type: "value_error", msg: "Input should be a number from 0 to 1" },
    { minimum: 0, maximum: 1 }
  )
)
/** Rows are read by the product, in slices: a value that is wrong is refused with its place. */
const rows = Schema.Unknown.check(
  check<unknown>(
    Array.isArray,
    { type: "value_error", msg: "Input should be a valid list" },
    { type: "array", items: { type: "object" } }
  )
)
const value = Schema.Union([Schema.String, Schema.Number, Schema.Boolean])

const dataSet = {
  /** Objects with the same members, 1 to 500,000; or `columns`. */
  rows: optional(rows),
  /** Lists of the same length by the names of columns: the same data in less space. */
  columns: optional(Schema.Record(Schema.String, Schema.Unknown)),
  /** The column of what turned out to be true; null in it: not known. Without it there is parity alone. */
  label: optional(name(200)),
  /** The column of what the model predicted; left out: scores from `threshold` on are positive. */
  prediction: optional(name(200)),
  /** The column of scores from 0 to 1: the chance of the positive label. */
  score: optional(name(200)),
  /** The columns whose values are groups of people, up to 20 each; null in one: not known. */
  protected: list(name(200), 1, analysisBounds.protectedColumns),
  /** The positive value of label and prediction; left out: 1 and true. */
  positive: optional(screenedValue),
  threshold: optional(share)
}

/** Body of POST /v1/fairness/analyze. Spec: document 2 section 4; api.md "Document 2". */
export const AnalysisCreate = Schema.Struct({
  model_id: identifier(200),
  dataset: Schema.Struct(dataSet),
  tolerance: optional(share)
})
export type AnalysisCreate = typeof AnalysisCreate.Type

const interval = Schema.NullOr(Schema.Array(Schema.Number))
const known = Schema.NullOr(Schema.Number)

/** A rate of a group with its counts; `value` is null where `n` is 0. `positive` is null for a mean. */
export const GroupRate = Schema.Struct({
  value: known,
  ci95: interval,
  n: Schema.Int,
  positive: Schema.NullOr(Schema.Int)
})
export type GroupRate = typeof GroupRate.Type

/** A group of a protected column. `value` is null once it was erased. `calibration`: mean of label less score. */
export const AnalysedGroup = Schema.Struct({
  value: Schema.NullOr(value),
  n: Schema.Int,
  counts: Schema.NullOr(Schema.Struct({ tp: Schema.Int, fp: Schema.Int, fn: Schema.Int, tn: Schema.Int })),
  selection_rate: GroupRate,
  tpr: GroupRate,
  fpr: GroupRate,
  ppv: GroupRate,
  npv: GroupRate,
  calibration: GroupRate
})
export type AnalysedGroup = typeof AnalysedGroup.Type

/**
 * A metric of a protected column: the largest difference of a rate between two groups. `high` and `low` are their
 * places. Where there is none, all but the name is null, with the reason.
 */
export const AnalysedMetric = Schema.Struct({
  name: oneOf(fairnessMetrics),
  value: known,
  ci95: interval,
  p: known,
  p_adjusted: known,
  rate: Schema.NullOr(Schema.String),
  high: Schema.NullOr(Schema.Int),
  low: Schema.NullOr(Schema.Int),
  incomplete: Schema.Boolean,
  verdict: Schema.NullOr(oneOf(rateVerdicts)),
  undefined_reason: Schema.NullOr(oneOf(undefinedMetrics))
})
export type AnalysedMetric = typeof AnalysedMetric.Type

/** The selection rates of a protected column by the four-fifths rule: `group` is the lowest. */
export const FourFifths = Schema.Struct({
  ratio: known,
  ci95: interval,
  base: Schema.NullOr(Schema.Int),
  group: Schema.NullOr(Schema.Int),
  violated: Schema.NullOr(Schema.Boolean),
  verdict: Schema.NullOr(oneOf(rateVerdicts)),
  undefined_reason: Schema.NullOr(oneOf(undefinedRatios))
})

/** The findings of an analysis in a protected column. */
export const AnalysedAttribute = Schema.Struct({
  name: Schema.NullOr(Schema.String),
  /** Rows without a value. */
  unknown: Schema.Int,
  groups: Schema.Array(AnalysedGroup),
  metrics: Schema.Array(AnalysedMetric),
  four_fifths: FourFifths
})
export type AnalysedAttribute = typeof AnalysedAttribute.Type

/** The figures of an analysis. */
export const AnalysisReport = Schema.Struct({
  method_version: Schema.String,
  rows: Schema.Int,
  dataset_digest: Schema.String,
  tolerance: Schema.Number,
  permutations: Schema.Int,
  attributes: Schema.Array(AnalysedAttribute)
})
export type AnalysisReport = typeof AnalysisReport.Type

/** The worst value of each metric over the protected columns; null where none has one. */
export const MetricsSummary = Schema.Struct({
  demographic_parity: known,
  equalized_odds: known,
  calibration: known
})

/**
 * An analysis. `overall_score` is 1 less the worst metric, and a number in every one that is completed. `report` is
 * left out in lists. Spec: document 2 section 2, "Analysis".
 */
export const Analysis = Schema.Struct({
  id: Schema.String,
  model_id: Schema.String,
  status: oneOf(analysisStatuses),
  overall_score: known,
  bias_detected: Schema.NullOr(Schema.Boolean),
  metrics_summary: Schema.NullOr(MetricsSummary),
  report_url: Schema.NullOr(Schema.String),
  created_at: instant,
  completed_at: Schema.NullOr(instant),
  error: Schema.optionalKey(Schema.Struct({ code: oneOf(analysisFailures), message: Schema.String })),
  report: Schema.optionalKey(AnalysisReport)
})
export type Analysis = typeof Analysis.Type

/** Query of GET /v1/fairness/analyses. */
export const AnalysesQuery = listQuery({ model_id: Schema.optionalKey(identifier(200)) })
/** Answer of GET /v1/fairness/analyses. */
export const AnalysesPage = listOf(Analysis)

/** Body of POST /v1/fairness/explain: a data set with the columns that may explain its differences. */
export const ExplanationCreate = Schema.Struct({
  model_id: identifier(200),
  dataset: Schema.Struct({ ...dataSet, features: list(name(200), 1, analysisBounds.features) }),
  /** Random orders of the columns, where these are more than 8. */
  samples: optional(integer(10, 1_000))
})
export type ExplanationCreate = typeof ExplanationCreate.Type

/**
 * The difference between a group's selection rate and the highest one, divided among columns. `explained` is the sum of
 * the contributions, `unexplained` the rest; `error` is half of an interval of 95 %, 0 where all orders were counted.
 */
export const ExplainedGroup = Schema.Struct({
  value,
  gap: Schema.Number,
  explained: Schema.Number,
  unexplained: Schema.Number,
  contributions: Schema.Array(Schema.Struct({ column: Schema.String, value: Schema.Number, error: Schema.Number }))
})

/** Answer of POST /v1/fairness/explain. `base` is the group with the highest rate; null where there are not two. */
export const Explanation = Schema.Struct({
  model_id: Schema.String,
  method: oneOf(["exact", "sampled"]),
  orders: Schema.NullOr(Schema.Int),
  attributes: Schema.Array(
    Schema.Struct({ name: Schema.String, base: Schema.NullOr(value), groups: Schema.Array(ExplainedGroup) })
  )
})
export type Explanation = typeof Explanation.Type

/** Body of POST /v1/fairness/reports. */
export const FairnessReportCreate = Schema.Struct({ analysis_id: id("analysis") })

/** A report of a completed analysis. `page_url`: the same as one HTML page that needs nothing else. */
export const FairnessReport = Schema.Struct({
  id: Schema.String,
  analysis_id: Schema.String,
  model_id: Schema.String,
  created_at: instant,
  page_url: Schema.String,
  overall_score: Schema.Number,
  bias_detected: Schema.Boolean,
  report: AnalysisReport
})
export type FairnessReport = typeof FairnessReport.Type
