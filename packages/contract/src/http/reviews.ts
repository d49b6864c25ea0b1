/** The endpoints of reviews. Spec: document 1 part 5 item 8; api.md "bounded autonomy". */
import { Schema } from "effect"
import {
  Review,
  ReviewClaimIn,
  ReviewDetail,
  ReviewListQuery,
  ReviewQuery,
  ReviewResolveIn,
  ReviewStreamQuery,
  ReviewWithdrawIn
} from "../reviews.ts"
import { ReviewNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, EVENT_STREAM_MEDIA, idParam, json, jsonBody, media, optionalBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/reviews"
const review = { review_id: idParam("review", () => new ReviewNotFound({})) } as const

/** Reviews. */
export const reviews = {
  list: endpoint({
    id: "reviews.list",
    method: "GET",
    path: AT,
    summary: "Reviews, newest first. An empty page is the end. An ingest key lists those that it requested.",
    access: access.readOwn,
    query: queryOf(ReviewListQuery),
    success: json(200, Schema.Array(Review))
  }),
  stream: endpoint({
    id: "reviews.stream",
    method: "GET",
    path: `${AT}/stream`,
    summary:
      "Reviews as server-sent events: those that wait for people now, then one event for each change. The id of an " +
      "event is the seq of its record; `Last-Event-ID` goes on behind it. An ingest key sees those that it requested.",
    access: access.readOwn,
    query: queryOf(ReviewStreamQuery),
    success: media(EVENT_STREAM_MEDIA)
  }),
  get: endpoint({
    id: "reviews.get",
    method: "GET",
    path: `${AT}/{review_id}`,
    summary: "One review with what a reviewer must see. What a person was shown is recorded as a digest.",
    access: access.readOwn,
    params: review,
    query: queryOf(ReviewQuery),
    success: json(200, ReviewDetail),
    refusals: ["ReviewNotFound"]
  }),
  claim: endpoint({
    id: "reviews.claim",
    method: "POST",
    path: `${AT}/{review_id}/claim`,
    summary: "Takes a review up for 15 minutes, renews that, or gives it back.",
    access: access.review,
    params: review,
    body: optionalBody(ReviewClaimIn),
    success: json(200, Review),
    refusals: ["ReviewClaimed", "ReviewClosed", "ReviewNotFound", "ReviewerNotEligible"]
  }),
  resolve: endpoint({
    id: "reviews.resolve",
    method: "POST",
    path: `${AT}/{review_id}/resolve`,
    summary: "Answers a review. An approval counts once, for this action, and what is stricter by then voids it.",
    access: access.review,
    params: review,
    body: jsonBody(ReviewResolveIn),
    success: json(200, Review),
    refusals: ["ReviewClaimed", "ReviewClosed", "ReviewNotFound", "ReviewerNotEligible"]
  }),
  withdraw: endpoint({
    id: "reviews.withdraw",
    method: "POST",
    path: `${AT}/{review_id}/withdraw`,
    summary: "The requester of the review does not want to know any more.",
    access: access.capture,
    params: review,
    body: optionalBody(ReviewWithdrawIn),
    success: json(200, Review),
    refusals: ["ReviewClosed", "ReviewNotFound"]
  })
} as const
