/** Refusals about reviews. */
import { Schema } from "effect"
import { reviewerProblems } from "../reviews.ts"
import { reported } from "./members.ts"

/** There is no such review, or the caller may not see it. Spec: api.md, Conventions. */
export class ReviewNotFound extends Schema.TaggedError<ReviewNotFound>()("ReviewNotFound", {
  reviewId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ReviewNotFound {
    return new ReviewNotFound({})
  }
  override get message(): string {
    return "There is no such review."
  }
}

/** The review is over. `status` says how it ended. Spec: decision 0049. */
export class ReviewClosed extends Schema.TaggedError<ReviewClosed>()("ReviewClosed", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReviewClosed {
    return new ReviewClosed({ status: "resolved" })
  }
  override get message(): string {
    return `The review is ${this.status ?? "over"}, so it takes no more answers. The agent can request another.`
  }
}

/**
 * Another person has claimed the review until the lease ends, or until it is given back. Spec: format 1 section 8,
 * `review.claimed`; decision 0049.
 */
export class ReviewClaimed extends Schema.TaggedError<ReviewClaimed>()("ReviewClaimed", {
  claimedBy: reported(Schema.String),
  leaseUntil: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReviewClaimed {
    return new ReviewClaimed({ leaseUntil: "2026-11-26T12:15:00.000Z" })
  }
  override get message(): string {
    return (
      `Another person has claimed the review until ${this.leaseUntil ?? "the lease ends"}. Wait until then, or ` +
      `until the claim is given back.`
    )
  }
}

const reviewerWords: { readonly [K in (typeof reviewerProblems)[number]]: string } = {
  requester_or_author: "The requester and the authors of the envelopes in force cannot answer this review.",
  owner: "The agent's owner does not count: the review needs two other people.",
  answered_before: "This person has already answered. The approvals must come from different people.",
  role: "The review needs a role that this person does not have in the agent's org unit.",
  not_a_person: "Only people answer reviews."
}

/** The person may not answer the review; another may. Spec: decision 0049. */
export class ReviewerNotEligible extends Schema.TaggedError<ReviewerNotEligible>()("ReviewerNotEligible", {
  why: reported(Schema.Literals(reviewerProblems)),
  sentence: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): ReviewerNotEligible {
    return new ReviewerNotEligible({ why: "requester_or_author" })
  }
  override get message(): string {
    const words = this.why === undefined ? "This person may not answer this review." : reviewerWords[this.why]
    return `${this.sentence === undefined ? words : `${words} ${this.sentence}`} Ask another reviewer.`
  }
}
