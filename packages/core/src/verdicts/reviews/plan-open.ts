/** Plans the opening of a review. Pure. */
import { formatInstant } from "@flyball/evidence"
import { approvalsNeeded, REVIEW_SCOPE, reviewIdOf, reviewTerms, openedReview } from "@flyball/rules"
import { event } from "../../storage/event.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import type { Concluded } from "../evaluations/ports.ts"
import { putReview } from "./stored-review.ts"

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
