/** Reviews as they travel. Spec: document 1 part 5 item 8; api.md "bounded autonomy"; envelopes.md 3.11. */
import { reviewCancelCauses, reviewResolutions, reviewStatuses } from "@flyball/evidence/words"
import { Schema } from "effect"
import { evaluationOutcomes } from "./envelopes.ts"
import { actionDigest, ExplanationOut } from "./evaluations.ts"
import { defaulted, id, instant, integerParam, leftOut, oneOf, optional, reason } from "./foundation/fields.ts"
import type { Info } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { becomesRecord, computed, inBody, showsRecords, wholePart } from "./foundation/place.ts"

export { reviewCancelCauses, reviewResolutions, reviewStatuses }

/** Why a person may not answer a review. */
export const reviewerProblems = ["requester_or_author", "owner", "answered_before", "role", "not_a_person"] as const

/** Roles that a review can need. `other`: a role that the service does not assign. */
export const reviewRoles = ["reviewer", "operator", "governor", "admin", "other"] as const
/** Results of presenting an approval. */
export const consumedResults = ["used", "voided"] as const

/** Longest that a request for a review waits for a change. Unit: milliseconds. */
export const MAX_REVIEW_WAIT_MS = 25_000

/** Number of different people of a role who must approve; null: of any role that answers reviews. */
export const ReviewNeed = Schema.Struct({
  role: Schema.NullOr(oneOf(reviewRoles)),
  approvals: Schema.Int,
  is_met: Schema.Boolean
})

/**
 * A review. `needs`: of each role, or of any, so many different people must approve; `approvals_needed` is the most of
 * one of them. `action`: what the agent is about to do, null where it was not said or was erased. `envelope_*` is the
 * innermost envelope that it was opened under. `consumed_by`: the evaluation that presented the approval. Spec: format
 * 1 section 8, `review.opened`; decision 0049.
 */
export const Review = Schema.Struct({
  id: inBody(Schema.String, "review_id"),
  agent_id: inBody(Schema.String),
  evaluation_id: inBody(Schema.String),
  action: computed(Schema.NullOr(Schema.String)),
  action_digest: inBody(Schema.String),
  /** Something was left out of the arguments that reviewers see. */
  args_redacted: computed(Schema.Boolean),
  matched_rule: inBody(Schema.String),
  envelope_id: inBody(Schema.NullOr(Schema.String), "layers"),
  envelope_version: computed(Schema.NullOr(Schema.Int)),
  status: computed(oneOf(reviewStatuses)),
  resolution: inBody(Schema.NullOr(oneOf(reviewResolutions))),
  approvals_given: inBody(Schema.Int),
  approvals_needed: inBody(Schema.Int),
  needs: inBody(Schema.Array(ReviewNeed)),
  roles: inBody(Schema.Array(oneOf(reviewRoles))),
  two_person: inBody(Schema.Boolean),
  requested_by: inBody(Schema.String, "writer"),
  claimed_by: computed(Schema.NullOr(Schema.String)),
  lease_until: inBody(Schema.NullOr(instant), "lease_until_ms"),
  opened_at: inBody(instant, "opened_at_ms"),
  expires_at: inBody(instant, "expires_at_ms"),
  resolved_at: inBody(Schema.NullOr(instant), "resolved_at_ms"),
  /** Everybody who answered, in order. */
  resolved_by: computed(Schema.Array(Schema.String)),
  consumed_by: computed(Schema.NullOr(Schema.String)),
  consumed_result: inBody(Schema.NullOr(oneOf(consumedResults)), "result"),
  /** The reason of the last answer or of the withdrawal; null where none was given, and once it was erased. */
  reason: wholePart("reason", Schema.NullOr(Schema.String)),
  cancel_cause: inBody(Schema.NullOr(oneOf(reviewCancelCauses)), "cause"),
  /** The record that opened it. */
  seq: computed(Schema.Int)
}).annotate(
  showsRecords(
    [
      "review.opened",
      "review.presented",
      "review.claimed",
      "review.resolved",
      "review.expired",
      "review.cancelled",
      "review.consumed"
    ],
    {
      body: [
        "activation_id",
        "as_of_seq",
        "cancelled_at_ms",
        "consumed_at_ms",
        "ends",
        "given_back",
        "presented_digest"
      ]
    }
  )
)
export type Review = typeof Review.Type

/** A review. Spec: format 1 section 8, `review.opened`; decision 0049. */
export interface ReviewInfo extends Info<typeof Review> {}

/** One member of the arguments that differs from the last action of the tool that people approved. */
export const ReviewDifference = Schema.Struct({
  /** A JSON pointer into the arguments. */
  path: Schema.String,
  /** Null where the earlier action did not have it; so is `now`. */
  before: Schema.Unknown,
  now: Schema.Unknown
})

/**
 * A review with what a reviewer needs to see. `args` and `signals` are null where they were not sent or were erased,
 * and where they are `withheld`: the caller's role does not read parts. `differences` are from the last action of the
 * tool that people approved, whose review is `compared_with`; null where there is none, or its arguments are missing.
 * At most 100 are listed, and `differences_omitted` counts the rest. `presented_digest`: `sha256:<hex>` over the RFC
 * 8785 form of an object of `id`, `evaluation_id`, `action`, `action_digest`, `args`, `args_redacted`, `signals`,
 * `matched_rule`, `rule_reason`, `explanation`, `compared_with`, `differences` and `differences_omitted` as they stand
 * here; that this person saw it is on record. Null where nothing was recorded: the caller does not answer reviews, or
 * the review is over. Spec: decisions 0049 and 0064.
 */
export const ReviewDetail = Schema.Struct({
  ...Review.fields,
  outcome: oneOf(evaluationOutcomes),
  withheld: Schema.Boolean,
  signals: Schema.Unknown,
  args: Schema.Unknown,
  rule_reason: Schema.NullOr(Schema.String),
  explanation: Schema.NullOr(ExplanationOut),
  compared_with: Schema.NullOr(Schema.String),
  differences: Schema.NullOr(Schema.Array(ReviewDifference)),
  differences_omitted: Schema.Int,
  expires_in_ms: Schema.Int,
  presented_digest: Schema.NullOr(Schema.String)
})
export type ReviewDetail = typeof ReviewDetail.Type

/** A review with all that its reviewer needs. Spec: decision 0049. */
export interface ReviewDetailInfo extends Info<typeof ReviewDetail> {}

/** Query of GET /bound/reviews. `before` is the `seq` of the last review seen; newest come first. */
export const ReviewListQuery = Schema.Struct({
  status: Schema.optionalKey(oneOf(reviewStatuses)),
  agent_id: Schema.optionalKey(id("agent")),
  /** Reviews of this action that still count: people may answer them, or approved them and nothing used that yet. */
  action_digest: Schema.optionalKey(actionDigest),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  before: Schema.optionalKey(integerParam())
})
export type ReviewListQuery = typeof ReviewListQuery.Type

/** Query of GET /bound/reviews/{review_id}: waits so long for another state of a review that is not over. */
export const ReviewQuery = Schema.Struct({
  /** Milliseconds, at most 25,000. */
  wait_ms: Schema.optionalKey(integerParam(0, MAX_REVIEW_WAIT_MS))
})
export type ReviewQuery = typeof ReviewQuery.Type

/**
 * Query of GET /bound/reviews/stream. With `status` only reviews that stand there are sent: that one leaves it is not
 * seen.
 */
export const ReviewStreamQuery = Schema.Struct({
  status: ReviewListQuery.fields.status,
  agent_id: ReviewListQuery.fields.agent_id
})
export type ReviewStreamQuery = typeof ReviewStreamQuery.Type

/** Body of POST /bound/reviews/{review_id}/claim. Spec: format 1 section 8, `review.claimed`; decision 0049. */
export const ReviewClaimIn = Schema.Struct({
  /** Lets go of it. */
  give_back: inBody(defaulted(Schema.Boolean, false), "given_back")
}).annotate(becomesRecord("review.claimed"))
export type ReviewClaimIn = typeof ReviewClaimIn.Type

/** Body of POST /bound/reviews/{review_id}/resolve. Spec: format 1 section 8, `review.resolved`; decision 0049. */
export const ReviewResolveIn = Schema.Struct({
  resolution: inBody(oneOf(reviewResolutions)),
  /** Needed to reject and to amend. */
  reason: wholePart("reason", optional(reason(2_000)))
}).annotate(becomesRecord("review.resolved"))
export type ReviewResolveIn = typeof ReviewResolveIn.Type

/** Body of POST /bound/reviews/{review_id}/withdraw. */
export const ReviewWithdrawIn = Schema.Struct({ reason: wholePart("reason", optional(reason(2_000))) }).annotate(
  becomesRecord("review.cancelled")
)
export type ReviewWithdrawIn = typeof ReviewWithdrawIn.Type
