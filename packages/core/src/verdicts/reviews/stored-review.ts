/** Reads a review out of its document, and writes it for the wire. */
import type { Review } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import {
  approvalsNeeded,
  isApproved,
  reviewAfter,
  type ReviewDocument,
  reviewKeys,
  reviewUnique,
  REVIEWS,
  reviewStatus
} from "@flyball/rules"
import { reasonPart } from "../../registry/agents/parts.ts"
import type { ChangeSet, Document, DocumentPut, JsonObject } from "../../storage/port.ts"

/** A review as it was read. */
export interface StoredReview {
  readonly id: string
  readonly version: number
  readonly body: ReviewDocument
}

/** The review in a document; only this folder writes there. */
export const storedReview = ({ body, id, version }: Document): StoredReview => ({
  id,
  version,
  body: body as unknown as ReviewDocument
})

/** Puts a review in place of the version that was read; 0 for a new one. */
export const putReview = (id: string, expectedVersion: number, body: ReviewDocument): DocumentPut => ({
  collection: REVIEWS,
  id,
  expectedVersion,
  body: body as unknown as JsonObject,
  keys: reviewKeys(id, body),
  unique: reviewUnique(body)
})

/** The review after one of its records, and the change that makes it. */
export interface ReviewPlan {
  readonly review: ReviewDocument
  readonly change: ChangeSet
}

/** The change that a record of a review makes: its document follows from the record, as in replay. */
export const withRecord = (
  { body: review, id, version }: StoredReview,
  kind: string,
  members: JsonObject,
  reason: string | null = null,
  events: ChangeSet["events"] = []
): ReviewPlan => {
  const body = { agent_id: review.agentId, review_id: id, ...members }
  const after = reviewAfter(review, { kind, body }, reason)
  return {
    review: after,
    change: {
      puts: [putReview(id, version, after)],
      records: [{ kind, agentId: review.agentId, body: sorted(body), parts: reasonPart(reason) }],
      events
    }
  }
}

/** Members of bodies are in the order of their names. */
const sorted = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Facts that no document holds: the seq of the record that opened the review, and the text of the action. */
export interface ShownWith {
  readonly seq: number
  readonly action: string | null
  readonly argsRedacted: boolean
  readonly nowMs: number
}

/** The review as the interface shows it. */
export const reviewOut = (id: string, review: ReviewDocument, shown: ShownWith): Review => {
  const layer = review.layers.at(-1)
  const status = reviewStatus(review, shown.nowMs)
  return {
    id,
    agent_id: review.agentId,
    evaluation_id: review.evaluationId,
    action: shown.action,
    action_digest: `sha256:${review.actionDigest}`,
    args_redacted: shown.argsRedacted,
    matched_rule: review.matchedRule,
    envelope_id: layer?.envelopeId ?? null,
    envelope_version: layer?.version ?? null,
    status,
    resolution: review.resolution,
    approvals_given: review.approvals.length,
    approvals_needed: approvalsNeeded(review.needs),
    needs: review.needs.map((need) => ({
      ...need,
      is_met: isApproved([need], review.approvals)
    })),
    roles: [...new Set(review.needs.flatMap(({ role }) => role ?? []))],
    two_person: review.twoPerson,
    requested_by: review.requestedBy,
    claimed_by: status === "claimed" ? review.claimedBy : null,
    lease_until: status === "claimed" ? instantOf(review.leaseUntilMs) : null,
    opened_at: formatInstant(review.openedAtMs),
    expires_at: formatInstant(review.expiresAtMs),
    resolved_at: instantOf(review.resolvedAtMs),
    resolved_by: review.resolvedBy,
    consumed_by: review.consumedBy,
    consumed_result: review.consumedResult,
    reason: review.reason ?? null,
    cancel_cause: review.cancelCause,
    seq: shown.seq
  }
}

const instantOf = (atMs: number | null): string | null => (atMs === null ? null : formatInstant(atMs))
