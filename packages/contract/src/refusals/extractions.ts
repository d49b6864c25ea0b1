/** Refusals about documents and what is extracted from them. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such extraction, or it is of another org unit. Spec: api.md, Conventions. */
export class ExtractionNotFound extends Schema.TaggedError<ExtractionNotFound>()("ExtractionNotFound", {
  extractionId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ExtractionNotFound {
    return new ExtractionNotFound({})
  }
  override get message(): string {
    return "There is no such extraction in the org unit."
  }
}

/** The extraction has no fields: it is not read yet, or failed. Spec: document 2 section 3. */
export class ExtractionNotReady extends Schema.TaggedError<ExtractionNotReady>()("ExtractionNotReady", {
  currentStatus: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ExtractionNotReady {
    return new ExtractionNotReady({ currentStatus: "queued" })
  }
  override get message(): string {
    return `The extraction is ${this.currentStatus ?? "not completed"}. Only a completed one has fields.`
  }
}

/** The envelope of the agent does not let it read the document. Nothing was read. Spec: document 1 section 3. */
export class ExtractionDenied extends Schema.TaggedError<ExtractionDenied>()("ExtractionDenied", {
  evaluationId: reported(Schema.String),
  outcome: reported(Schema.String),
  matchedRule: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): ExtractionDenied {
    return new ExtractionDenied({ evaluationId: `evl_${"0".repeat(26)}`, outcome: "deny", matchedRule: "no_scans" })
  }
  override get message(): string {
    const { evaluationId = "", matchedRule = "", outcome = "deny" } = this
    return `The evaluation ${evaluationId} of the agent ended as ${outcome} (${matchedRule}). Nothing was read.`
  }
}
