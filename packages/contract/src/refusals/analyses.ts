/** Refusals about fairness analyses and their reports. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such analysis, or it is of another org unit. Spec: api.md, Conventions. */
export class AnalysisNotFound extends Schema.TaggedError<AnalysisNotFound>()("AnalysisNotFound", {
  analysisId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): AnalysisNotFound {
    return new AnalysisNotFound({})
  }
  override get message(): string {
    return "There is no such analysis in the caller's org unit."
  }
}

/** A report of an analysis that has none: it is running, or failed. Spec: document 2 section 3. */
export class AnalysisNotCompleted extends Schema.TaggedError<AnalysisNotCompleted>()("AnalysisNotCompleted", {
  currentStatus: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): AnalysisNotCompleted {
    return new AnalysisNotCompleted({ currentStatus: "running" })
  }
  override get message(): string {
    return "The analysis is not completed, so it has no report. GET /v1/fairness/analyses/{analysis_id} says why."
  }
}
