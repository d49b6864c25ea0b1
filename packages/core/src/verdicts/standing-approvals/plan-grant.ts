/** Plans the grant of a standing approval, by another person than proposed it. Pure. */
import { ReviewerNotEligible, SecondApproverRequired, StandingApprovalNotOpen } from "@flyball/contract"
import { type StandingApprovalDocument, standingStatus } from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { type StoredStanding, type StandingPlan, putStanding } from "./document.ts"

/** How the person who grants one relates to those who may not. */
export interface Granter {
  readonly toProposer: SecondPerson
  /** To the requester of the review, and to the authors of the versions that it was opened under. */
  readonly toOthers: SecondPerson
  /** True when the person is the owner of an agent whose review asks for two other people. */
  readonly isOwner: boolean
}

/**
 * Decides what granting one would change.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `StandingApprovalNotOpen` where it was granted, revoked or erased, or its time is past;
 *   `SecondApproverRequired` where the proposer, or who may be the same person, grants it; `ReviewerNotEligible` for
 *   who may not answer its review.
 */
export const planGrant = (
  { body, id, version }: StoredStanding,
  nowMs: number,
  writer: Writer,
  { isOwner, toOthers, toProposer: person }: Granter
): Result.Result<StandingPlan, ReviewerNotEligible | SecondApproverRequired | StandingApprovalNotOpen> => {
  const status = standingStatus(body, nowMs)
  if (status !== "proposed" || body.pins === null) return Result.fail(new StandingApprovalNotOpen({ status }))
  if (person !== "another") {
    const sentence = `Up to ${body.count} evaluations would need no review.`
    return Result.fail(
      new SecondApproverRequired({
        change: "loosens",
        sentence: person === "perhaps_them" ? `${sentence} ${ERASED_AUTHOR}` : sentence
      })
    )
  }
  if (toOthers !== "another")
    return Result.fail(
      new ReviewerNotEligible({
        why: "requester_or_author",
        ...(toOthers === "perhaps_them" ? { sentence: ERASED_AUTHOR } : {})
      })
    )
  if (isOwner) return Result.fail(new ReviewerNotEligible({ why: "owner" }))
  const standing: StandingApprovalDocument = { ...body, status: "granted", grantedBy: writer.id }
  return Result.succeed({
    standing,
    change: {
      puts: [putStanding(id, version, standing)],
      records: [
        {
          kind: "standing_approval.granted",
          agentId: body.agentId,
          body: {
            agent_id: body.agentId,
            proposed_by: body.proposedBy,
            review_id: body.reviewId,
            standing_approval_id: id,
            writer: writer.id
          },
          parts: []
        }
      ]
    }
  })
}
