/** Refusals about plans of routes and their dispatch. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such plan, or it is of another org unit. Spec: api.md, Conventions. */
export class RoutePlanNotFound extends Schema.TaggedError<RoutePlanNotFound>()("RoutePlanNotFound", {
  planId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): RoutePlanNotFound {
    return new RoutePlanNotFound({})
  }
  override get message(): string {
    return "There is no such plan in the caller's org unit."
  }
}

/**
 * The plan is in a state in which this cannot be done: over, not over, without routes, or dispatched. Spec: document 2
 * section 3.
 */
export class RoutePlanState extends Schema.TaggedError<RoutePlanState>()("RoutePlanState", {
  currentStatus: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): RoutePlanState {
    return new RoutePlanState({ currentStatus: "completed" })
  }
  override get message(): string {
    return `The plan is ${this.currentStatus ?? "in another state"}: this cannot be done with it.`
  }
}

/** The agent's envelope denies the dispatch, or the agent is halted. Spec: document 1 part 2. */
export class DispatchDenied extends Schema.TaggedError<DispatchDenied>()("DispatchDenied", {
  rule: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): DispatchDenied {
    return new DispatchDenied({ rule: "too_far" })
  }
  override get message(): string {
    return `The agent may not dispatch this plan (${this.rule ?? "its envelope"}).`
  }
}

/** The dispatch needs an approval. Once it is approved, the same request dispatches. Spec: document 1 part 2. */
export class DispatchInReview extends Schema.TaggedError<DispatchInReview>()("DispatchInReview", {
  reviewId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): DispatchInReview {
    return new DispatchInReview({ reviewId: `rev_${"0".repeat(26)}` })
  }
  override get message(): string {
    return `The dispatch waits for the review ${this.reviewId ?? ""}. Send the request again once it is approved.`
  }
}
