/** Plans the acts of a review. Pure. */
import { ReviewClaimed, ReviewClosed, ReviewerNotEligible } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import {
  approvalsNeeded,
  canServe,
  isApproved,
  REVIEW_LEASE_MS,
  REVIEW_SCOPE,
  type ReviewCancelCause,
  type ReviewDocument,
  reviewIdOf,
  type ReviewResolution,
  reviewStatus,
  reviewTerms,
  rolesHeld
} from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import type { Concluded } from "../evaluations/ports.ts"
import { openedReview } from "@flyball/rules"
import { putReview, type ReviewPlan, type StoredReview, withRecord } from "./stored-review.ts"

/** The rule that ends what time, a halt or a new version ended. */
export const REVIEW_WRITER = { id: "policy:reviews" } as const

/**
 * Decides what opening a review changes, in the commit of its evaluation.
 *
 * - Spec: envelopes.md 3.11; decision 0049.
 */
export const planOpen = ({
  actionDigest,
  agentId,
  question,
  atMs,
  evaluationId,
  layers,
  matchedRule,
  obligations,
  writer
}: Concluded & { readonly actionDigest: string; readonly question: string }): {
  readonly reviewId: string
  readonly change: ChangeSet
} => {
  const reviewId = reviewIdOf(evaluationId)
  const { needs, ttlMs, twoPerson } = reviewTerms(obligations)
  const expiresAtMs = atMs + ttlMs
  const body: JsonObject = {
    action_digest: actionDigest,
    agent_id: agentId,
    evaluation_id: evaluationId,
    expires_at_ms: expiresAtMs,
    layers: layers.map(({ envelopeId, version }) => ({ envelope_id: envelopeId, version })),
    matched_rule: matchedRule,
    needs: needs.map(({ approvals, role }) => ({ approvals, ...(role === null ? {} : { role }) })),
    opened_at_ms: atMs,
    review_id: reviewId,
    two_person: twoPerson,
    writer: writer.id
  }
  return {
    reviewId,
    change: {
      puts: [putReview(reviewId, 0, openedReview(body, question))],
      records: [
        {
          kind: "review.opened",
          agentId,
          body,
          parts: [],
          once: { scope: REVIEW_SCOPE, key: reviewId, digest: actionDigest }
        }
      ],
      events: [
        event("review.opened", {
          review_id: reviewId,
          agent_id: agentId,
          evaluation_id: evaluationId,
          matched_rule: matchedRule,
          approvals_needed: approvalsNeeded(needs),
          expires_at: formatInstant(expiresAtMs),
          writer: writer.id
        })
      ]
    }
  }
}

/** The person who acts on a review, and how that person relates to those who may not. */
export interface Reviewer {
  readonly writer: Writer
  /** Roles in the agent's org unit; `any`: the host answers for the person. */
  readonly roles: ReadonlyArray<string> | "any"
  /** How the person relates to the requester and to the authors of the versions in force then. */
  readonly person: SecondPerson
  /** How the person relates to those who answered before. */
  readonly earlier: SecondPerson
  /** Whether the person is the agent's owner. */
  readonly isOwner: boolean
}

/** Added to a refusal where an erasure hides whether somebody who answered is the same person. */
const ERASED_ANSWERER = "Who answered before was erased, and a person first seen after that may be the same one."

/** Why a person may not act on this review; null where nothing is in the way. */
const notEligible = (
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
const notOpen = (review: ReviewDocument, { id }: Writer, nowMs: number): ReviewClaimed | ReviewClosed | null => {
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

/** Decides what presenting an approval changes, in the commit of the evaluation that does. */
export const planConsume = (
  stored: StoredReview,
  evaluationId: string,
  result: "used" | "voided",
  nowMs: number,
  { id }: Writer
): ReviewPlan =>
  withRecord(stored, "review.consumed", {
    consumed_at_ms: nowMs,
    evaluation_id: evaluationId,
    result,
    writer: id
  })
