/** Refusals about standing approvals. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** The review was not approved, or a part of its evaluation is redacted or erased. Spec: decision 0050. */
export class ReviewNotApproved extends Schema.TaggedError<ReviewNotApproved>()("ReviewNotApproved", {}) {
  static readonly status = 409
  static get example(): ReviewNotApproved {
    return new ReviewNotApproved()
  }
  override get message(): string {
    return (
      "A standing approval needs a review that people approved, with no input of its evaluation redacted or erased. " +
      "Choose such a review."
    )
  }
}

/** The caller did not approve the review. Spec: decision 0050. */
export class NotTheApprover extends Schema.TaggedError<NotTheApprover>()("NotTheApprover", {}) {
  static readonly status = 409
  static get example(): NotTheApprover {
    return new NotTheApprover()
  }
  override get message(): string {
    return "Only a person who approved the review can propose a standing approval from it. Ask that person."
  }
}

/** There is no such standing approval, or the caller may not see it. Spec: api.md, Conventions. */
export class StandingApprovalNotFound extends Schema.TaggedError<StandingApprovalNotFound>()(
  "StandingApprovalNotFound",
  { standingApprovalId: reported(Schema.String) }
) {
  static readonly status = 404
  static get example(): StandingApprovalNotFound {
    return new StandingApprovalNotFound({})
  }
  override get message(): string {
    return "There is no such standing approval."
  }
}

/** The standing approval's status does not allow the act. `status` is that status. Spec: decision 0050. */
export class StandingApprovalNotOpen extends Schema.TaggedError<StandingApprovalNotOpen>()("StandingApprovalNotOpen", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): StandingApprovalNotOpen {
    return new StandingApprovalNotOpen({ status: "revoked" })
  }
  override get message(): string {
    return `The standing approval is ${this.status ?? "not open"}, or its box was erased. Propose a new one.`
  }
}

/**
 * The box holds inputs for which another rule asks for a review than the one that people answered; or that could not be
 * decided. `rule` and `example` name one; both are absent where it is open. Spec: decisions 0050 and 0056.
 */
export class StandingApprovalTooWide extends Schema.TaggedError<StandingApprovalTooWide>()("StandingApprovalTooWide", {
  rule: reported(Schema.String),
  example: reported(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])))
}) {
  static readonly status = 409
  static get example(): StandingApprovalTooWide {
    return new StandingApprovalTooWide({ rule: "large", example: { tool: "refund", amount: 20_000 } })
  }
  override get message(): string {
    return this.rule === undefined
      ? "The proof that the box stays within the review did not finish in time. Pin more signals."
      : `In this box the rule ${this.rule} also requires a review, which nobody answered. Pin more signals.`
  }
}
