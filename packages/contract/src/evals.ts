/** Eval runs as they travel: results of a suite, compared with an earlier run. Spec: document 1 section 4, `/evals`. */
import { Schema } from "effect"
import {
  id,
  identifier,
  instant,
  integerParam,
  leftOut,
  list,
  name,
  oneOf,
  optional,
  patterned
} from "./foundation/fields.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { computed, inBody, showsRecords } from "./foundation/place.ts"

/** Outcomes of one trial of a case. A time-out is `errored`: only `passed` and `failed` count in a rate. */
export const trialOutcomes = ["passed", "failed", "errored", "skipped"] as const

/** Verdicts of a comparison. Spec: decision 0067. */
export const evalVerdicts = ["better", "worse", "inconclusive"] as const

/** The answers of a gate: `uncalibrated` where no A/A run shows that the suite is quiet when nothing changes. */
export const evalGates = ["pass", "fail", "uncalibrated"] as const

/** Most cases of a run. */
export const MAX_EVAL_CASES = 2_000
/** Most trials of a case. */
export const MAX_EVAL_TRIALS = 64

const digest = patterned(/^sha256:[0-9a-f]{64}$/, 71)

/** A case and the outcome of each of its trials. */
export const EvalCaseIn = Schema.Struct({
  id: name(200),
  outcomes: list(oneOf(trialOutcomes), 1, MAX_EVAL_TRIALS)
})

/** Body of POST /evals/eval-runs. Spec: decision 0067. */
export const EvalRunIn = Schema.Struct({
  agent_id: id("agent"),
  suite: name(200),
  /** Of everything that decides the result: cases, prompts, graders. Runs of another digest are not comparable. */
  suite_digest: digest,
  model: optional(identifier(200)),
  agent_version: optional(name(200)),
  /** The run to compare with. Left out, the newest one of this agent with this digest. */
  baseline_run_id: optional(id("evalRun")),
  /** Case ids once each, 1 to 2,000. */
  cases: list(EvalCaseIn, 1, MAX_EVAL_CASES)
})
export type EvalRunIn = typeof EvalRunIn.Type

/** Results of a suite to be recorded. */
export interface EvalRunInput extends Input<typeof EvalRunIn> {}

/** Query of GET /evals/eval-runs. */
export const EvalRunsQuery = Schema.Struct({
  agent_id: Schema.optionalKey(id("agent")),
  suite_digest: Schema.optionalKey(digest),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  /** Continues behind the run with this seq. */
  before: Schema.optionalKey(integerParam())
})
export type EvalRunsQuery = typeof EvalRunsQuery.Type

const count = Schema.Int
const Score = Schema.Struct({
  name: Schema.String,
  value: Schema.Number,
  /** Interval of 95 %, which counts cases and not repeats. */
  ci95: Schema.Array(Schema.Number),
  /** Trials that passed or failed. */
  n: count,
  clusters: count
})

/**
 * A run. Texts and scores are null once their part was erased. Spec: document 1 section 4, GET /evals/eval-runs;
 * decision 0067.
 */
export const EvalRun = Schema.Struct({
  id: inBody(Schema.String, "eval_run_id"),
  agent_id: inBody(Schema.String),
  suite: computed(Schema.NullOr(Schema.String)),
  suite_digest: inBody(Schema.String),
  model: inBody(Schema.NullOr(Schema.String)),
  agent_version: computed(Schema.NullOr(Schema.String)),
  cases: inBody(count),
  result_counts: computed(
    Schema.Struct({ total: count, passed: count, failed: count, errored: count, skipped: count })
  ),
  scores: computed(Schema.NullOr(Schema.Array(Score))),
  /** The chance that k repeats of a case all pass, for k from 1 to the most that a case was repeated, at most 8. */
  pass_power: computed(Schema.NullOr(Schema.Array(Schema.Struct({ k: count, value: Schema.Number })))),
  /** Null without an earlier run of the same suite. */
  comparison: computed(
    Schema.NullOr(
      Schema.Struct({
        baseline_run_id: Schema.String,
        /** The same model and agent version as the baseline: only chance differs. */
        is_aa: Schema.Boolean,
        common_cases: count,
        wins: count,
        losses: count,
        /** Exact sign test over cases, two-sided, as a decimal. */
        p: Schema.String,
        verdict: oneOf(evalVerdicts),
        /** Cases that lost, at most 100; null once their part was erased. */
        lost_cases: Schema.NullOr(Schema.Array(Schema.String))
      })
    )
  ),
  gate: computed(oneOf(evalGates)),
  calibration_run_id: inBody(Schema.NullOr(Schema.String), "calibration_id"),
  recorded_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  seq: computed(count),
  record_hash: computed(Schema.String)
}).annotate(
  showsRecords(["eval.recorded"], {
    body: [
      "baseline_id",
      "common_cases",
      "errored",
      "failed",
      "is_aa",
      "losses",
      "p",
      "passed",
      "skipped",
      "verdict",
      "wins"
    ],
    parts: ["suite"]
  })
)
export type EvalRun = typeof EvalRun.Type

/** A recorded run. */
export interface EvalRunInfo extends Info<typeof EvalRun> {}
