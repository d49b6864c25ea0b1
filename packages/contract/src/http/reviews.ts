/** The endpoints of reviews. Spec: document 1 part 5 item 8; api.md "bounded autonomy". */
import { Schema } from "effect"
import {
  Review,
  ReviewClaimIn,
  ReviewDetail,
  type ReviewDetailInfo,
  type ReviewInfo,
  ReviewListQuery,
  ReviewQuery,
  ReviewResolveIn,
  ReviewStreamQuery,
  ReviewWithdrawIn
} from "../reviews.ts"
import { named } from "../foundation/plain.ts"
import { ReviewNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, events, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/reviews"
const review = { review_id: idParam("review", () => new ReviewNotFound({})) } as const

const One = named<ReviewInfo>()(Review)

/** Endpoints of reviews. Spec: document 1 section 5, item 8; decision 0049. */
export const reviews = {
  list: endpoint({
    id: "reviews.list",
    method: "GET",
    path: AT,
    summary: "Lists reviews, newest first. An empty page is the end. An ingest key lists those that it requested.",
    access: access.readOwn,
    query: queryOf(ReviewListQuery),
    success: json(200, Schema.Array(One)),
    admission: "large_page"
  }),
  stream: endpoint({
    id: "reviews.stream",
    method: "GET",
    path: `${AT}/stream`,
    summary:
      "Streams reviews as server-sent events: the open ones, then each change. An event's id is the seq of its " +
      "record; `Last-Event-ID` continues after it. An ingest key sees those that it requested.",
    access: access.readOwn,
    query: queryOf(ReviewStreamQuery),
    success: events("review", One)
  }),
  get: endpoint({
    id: "reviews.get",
    method: "GET",
    path: `${AT}/{review_id}`,
    summary: "Returns one review with all that its reviewer needs. Records a digest of what was shown to a person.",
    access: access.readOwn,
    params: review,
    query: queryOf(ReviewQuery),
    success: json(200, named<ReviewDetailInfo>()(ReviewDetail)),
    refusals: ["ReviewNotFound"]
  }),
  claim: endpoint({
    id: "reviews.claim",
    method: "POST",
    path: `${AT}/{review_id}/claim`,
    summary: "Claims a review for 15 minutes, renews the claim, or gives it back.",
    access: access.review,
    params: review,
    body: optionalBody(ReviewClaimIn),
    success: json(200, One),
    refusals: ["ReviewClaimed", "ReviewClosed", "ReviewNotFound", "ReviewerNotEligible"]
  }),
  resolve: endpoint({
    id: "reviews.resolve",
    method: "POST",
    path: `${AT}/{review_id}/resolve`,
    summary: "Approves or rejects a review. An approval covers this action once, and a stricter envelope voids it.",
    access: access.review,
    params: review,
    body: jsonBody(ReviewResolveIn),
    success: json(200, One),
    refusals: ["ReviewClaimed", "ReviewClosed", "ReviewNotFound", "ReviewerNotEligible"]
  }),
  withdraw: endpoint({
    id: "reviews.withdraw",
    method: "POST",
    path: `${AT}/{review_id}/withdraw`,
    summary: "Withdraws a review. Only its requester may.",
    access: access.capture,
    params: review,
    body: optionalBody(ReviewWithdrawIn),
    success: json(200, One),
    refusals: ["ReviewClosed", "ReviewNotFound"]
  })
} as const
