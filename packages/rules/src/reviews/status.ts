/** Status of a review at a time, and when a review is over. The one place that compares its end with the time. */
import { reviewStatuses } from "@flyball/evidence/words"
import type { ReviewDocument } from "./document.ts"

export { reviewStatuses }

/** One of {@link reviewStatuses}. */
export type ReviewStatus = (typeof reviewStatuses)[number]

/**
 * True once a review's time is over, at its end too. Unit: `atMs` in milliseconds since 1970 UTC. Spec: decision 0049.
 */
export const isPastEnd = ({ expiresAtMs }: Pick<ReviewDocument, "expiresAtMs">, atMs: number): boolean =>
  expiresAtMs <= atMs

/**
 * Status of a review at a time. An ended lease does not count; a review past its time is expired. Spec: decision 0049.
 */
export const reviewStatus = (review: ReviewDocument, nowMs: number): ReviewStatus =>
  review.ended ??
  (isPastEnd(review, nowMs)
    ? "expired"
    : review.claimedBy !== null && (review.leaseUntilMs ?? 0) > nowMs
      ? "claimed"
      : "open")
