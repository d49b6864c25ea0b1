/** Rows of the catalogue: fairness analyses of data sets. */
import { analysisFailures, rateVerdicts, undefinedMetrics, undefinedRatios } from "../words.ts"
import type { BodyOf } from "./body-type.ts"
import { choice, count, hash, id, type KindRow, may, MIB, must, part, writer } from "./row.ts"

const verdict = may("verdict", choice(...rateVerdicts))
const metric = {
  type: "object",
  members: [may("as_extreme", count), may("undefined_reason", choice(...undefinedMetrics)), verdict]
} as const
const group = {
  type: "object",
  members: [
    may("fn", count),
    may("fp", count),
    may("gap_ppm", { type: "integer", min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
    must("n", count),
    must("selected", count),
    may("square_ppm", count),
    may("tn", count),
    may("tp", count)
  ]
} as const
const attribute = {
  type: "object",
  members: [
    must("calibration", metric),
    must("demographic_parity", metric),
    must("equalized_odds", metric),
    must("four_fifths", {
      type: "object",
      members: [may("undefined_reason", choice(...undefinedRatios)), verdict]
    }),
    must("groups", { type: "list", of: group, min: 0, max: 20 }),
    must("unknown", count)
  ]
} as const

const analysisId = must("analysis_id", id("anl_"))
const rows = must("rows", { type: "integer", min: 1, max: 500_000 })
const completed = [
  analysisId,
  must("attributes", { type: "list", of: attribute, min: 1, max: 16 }),
  must("bias_detected", { type: "boolean" }),
  must("dataset_digest", hash),
  must("permutations", count),
  rows,
  must("tolerance_ppm", count),
  writer
] as const
const failed = [
  analysisId,
  must("code", choice(...analysisFailures)),
  must("dataset_digest", hash),
  rows,
  writer
] as const

/** The body of `analysis.completed`. */
export type AnalysisCompletedBody = BodyOf<typeof completed>
/** The body of `analysis.failed`. */
export type AnalysisFailedBody = BodyOf<typeof failed>

const parts = [
  part(
    "analysis",
    MIB,
    "`{label?, model_id, positive?, prediction?, protected: [name], score?, threshold_ppm?, values: [[value]]}`"
  ),
  part(
    "dataset",
    MIB,
    "`{label?, prediction, protected: [text], rows, score?}`: each text has a character a row, 7 digits for a score. " +
      "Left out where it is larger than a part may be."
  )
]

/** The rows, in the order of the specification's table. */
export const analysisKinds: ReadonlyArray<KindRow> = [
  {
    kind: "analysis.completed",
    about:
      "Predictions of a model were compared between groups of rows. `dataset_digest` is SHA-256 over the data set in " +
      "the form of its part, and `attributes` counts it by the values of each protected column, in the order of the " +
      "part's `values`. `as_extreme` are the tables or shuffles, among `permutations`, that differ at least as much.",
    body: completed,
    parts
  },
  {
    kind: "analysis.failed",
    about: "An analysis ended without a metric: none exists for the data set, or its process ended.",
    body: failed,
    parts
  }
]
