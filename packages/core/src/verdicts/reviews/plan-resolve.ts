/** Plans the answer of a person to a review. Pure. */
import type { ReviewClaimed, ReviewClosed, ReviewerNotEligible } from "@flyball/contract"
import { approvalsNeeded, isApproved, type ReviewResolution, rolesHeld } from "@flyball/rules"
import { Result } from "effect"
import { event } from "../../storage/event.ts"
import { type ReviewPlan, type StoredReview, withRecord } from "./stored-review.ts"
import { type Reviewer, notOpen, notEligible } from "./plan-claim.ts"

/**
 * Decides what an answer changes: any rejection or amendment ends a review, approvals once they meet its needs.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: as {@link planClaim} does.
 */
export const planResolve = (
  stored: StoredReview,
  reviewer: Reviewer,
  resolution: ReviewResolution,
  reason: string | null,
  nowMs: number
): Result.Result<ReviewPlan, ReviewClaimed | ReviewClosed | ReviewerNotEligible> => {
  const { body: review, id } = stored
  const { writer } = reviewer
  const refusal = notOpen(review, writer, nowMs) ?? notEligible(review, reviewer)
  if (refusal !== null) return Result.fail(refusal)
  const roles = rolesHeld(review.needs, reviewer.roles)
  const approvals = resolution === "approve" ? [...review.approvals, { by: writer.id, roles }] : review.approvals
  const ends = resolution !== "approve" || isApproved(review.needs, approvals)
  const needed = approvalsNeeded(review.needs)
  return Result.succeed(
    withRecord(
      stored,
      "review.resolved",
      {
        approvals_given: approvals.length,
        approvals_needed: needed,
        ends,
        resolution,
        resolved_at_ms: nowMs,
        roles: [...new Set(roles)],
        writer: writer.id
      },
      reason,
      ends
        ? [
            event("review.resolved", {
              review_id: id,
              agent_id: review.agentId,
              evaluation_id: review.evaluationId,
              resolution,
              approvals_given: approvals.length,
              has_reason: reason !== null,
              writer: writer.id
            })
          ]
        : []
    )
  )
}
