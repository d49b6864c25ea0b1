/** Plans the end of a review that nobody answers: its time is over, or it is cancelled. Pure. */
import { formatInstant } from "@flyball/evidence"
import { event } from "../../storage/event.ts"
import { type ReviewPlan, type StoredReview, withRecord } from "./stored-review.ts"
import type { ReviewCancelCause } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { JsonObject } from "../../storage/port.ts"

/** The rule that ends what time, a halt or a new version ended. */
export const REVIEW_WRITER = { id: "policy:reviews" } as const

/** Decides what the end of a review's time changes. The review must be over its time. */
export const planExpire = (stored: StoredReview): ReviewPlan =>
  withRecord(stored, "review.expired", { expires_at_ms: stored.body.expiresAtMs, writer: REVIEW_WRITER.id }, null, [
    event("review.expired", {
      review_id: stored.id,
      agent_id: stored.body.agentId,
      evaluation_id: stored.body.evaluationId,
      expires_at: formatInstant(stored.body.expiresAtMs)
    })
  ])

/** Decides what cancelling a live review changes. */
export const planCancel = (
  stored: StoredReview,
  cause: ReviewCancelCause,
  nowMs: number,
  {
    activationId = null,
    reason = null,
    writer = REVIEW_WRITER
  }: {
    readonly activationId?: string | null
    readonly reason?: string | null
    readonly writer?: Writer
  } = {}
): ReviewPlan =>
  withRecord(
    stored,
    "review.cancelled",
    omitNullish({
      activation_id: activationId,
      cancelled_at_ms: nowMs,
      cause,
      writer: writer.id
    }) as JsonObject,
    reason,
    [
      event("review.cancelled", {
        review_id: stored.id,
        agent_id: stored.body.agentId,
        evaluation_id: stored.body.evaluationId,
        cause,
        activation_id: activationId,
        has_reason: reason !== null,
        writer: writer.id
      })
    ]
  )
