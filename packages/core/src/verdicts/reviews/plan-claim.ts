/** Plans that a person takes a review up, or lets go of it. Pure. */
import { ReviewClaimed, ReviewClosed, ReviewerNotEligible } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { canServe, REVIEW_LEASE_MS, type ReviewDocument, reviewStatus, rolesHeld } from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { type ReviewPlan, type StoredReview, withRecord } from "./stored-review.ts"

/** The person who acts on a review, and how that person relates to those who may not. */
export interface Reviewer {
  readonly writer: Writer
  /** Roles in the agent's org unit; `any`: the host answers for the person. */
  readonly roles: ReadonlyArray<string> | "any"
  /** How the person relates to the requester and to the authors of the versions in force then. */
  readonly person: SecondPerson
  /** How the person relates to those who answered before. */
  readonly earlier: SecondPerson
  /** True when the person is the agent's owner. */
  readonly isOwner: boolean
}

/** Added to a refusal where an erasure hides whether somebody who answered is the same person. */
const ERASED_ANSWERER = "Who answered before was erased, and a person first seen after that may be the same one."

/** Why a person may not act on this review; null where nothing is in the way. */
export const notEligible = (
  review: ReviewDocument,
  { earlier, isOwner, person, roles }: Reviewer
): ReviewerNotEligible | null =>
  person === "one_of_them"
    ? new ReviewerNotEligible({ why: "requester_or_author" })
    : person === "perhaps_them"
      ? new ReviewerNotEligible({ why: "requester_or_author", sentence: ERASED_AUTHOR })
      : review.twoPerson && isOwner
        ? new ReviewerNotEligible({ why: "owner" })
        : earlier !== "another"
          ? new ReviewerNotEligible({
              why: "answered_before",
              ...(earlier === "perhaps_them" ? { sentence: ERASED_ANSWERER } : {})
            })
          : canServe(review.needs, rolesHeld(review.needs, roles))
            ? null
            : new ReviewerNotEligible({ why: "role" })

/** Why nobody may act on this review now. */
export const notOpen = (review: ReviewDocument, { id }: Writer, nowMs: number): ReviewClaimed | ReviewClosed | null => {
  const status = reviewStatus(review, nowMs)
  if (status === "claimed")
    return review.claimedBy === id
      ? null
      : new ReviewClaimed({ claimedBy: review.claimedBy!, leaseUntil: formatInstant(review.leaseUntilMs!) })
  return status === "open" ? null : new ReviewClosed({ status })
}

/**
 * Decides what taking a review up changes, or letting go of it: nothing where the person does not have it.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `ReviewClosed` where it is over; `ReviewClaimed` where another person has it; `ReviewerNotEligible` for who
 *   may not answer it.
 */
export const planClaim = (
  stored: StoredReview,
  reviewer: Reviewer,
  giveBack: boolean,
  nowMs: number
): Result.Result<ReviewPlan, ReviewClaimed | ReviewClosed | ReviewerNotEligible> => {
  const refusal = notOpen(stored.body, reviewer.writer, nowMs) ?? notEligible(stored.body, reviewer)
  if (refusal !== null) return Result.fail(refusal)
  if (giveBack && reviewStatus(stored.body, nowMs) !== "claimed")
    return Result.succeed({ review: stored.body, change: {} })
  return Result.succeed(
    withRecord(stored, "review.claimed", {
      ...(giveBack ? { given_back: true } : {}),
      lease_until_ms: giveBack ? nowMs : Math.min(nowMs + REVIEW_LEASE_MS, stored.body.expiresAtMs),
      writer: reviewer.writer.id
    })
  )
}
