/** Many reviews at once, written straight into a store: each as its plans would leave it, and of one evaluation. */
import { REVIEW_SCOPE, type ReviewDocument, REVIEWS } from "@flyball/rules"
import { Effect } from "effect"
import { newId } from "../../../foundation/ids.ts"
import type { RecordDraft, StorageApi } from "../../../storage/port.ts"
import { putReview, storedReview } from "../stored-review.ts"

/** How a review differs from the one that it copies. */
export type FilledReview = Partial<
  Pick<ReviewDocument, "agentId" | "claimedBy" | "ended" | "expiresAtMs" | "leaseUntilMs" | "openedAtMs">
>

/** Reviews of one commit. */
const TOGETHER = 200

/** Puts copies of a review, of which each asks something else, in this order; answers their ids. */
export const fillQueue = Effect.fnUntraced(function* (
  storage: StorageApi,
  reviewId: string,
  copies: ReadonlyArray<FilledReview>
) {
  const { body: review } = storedReview((yield* storage.get(REVIEWS, reviewId))!)
  const all: Array<string> = []
  for (let at = 0; at < copies.length; at += TOGETHER) {
    const some = copies.slice(at, at + TOGETHER)
    const ids = yield* Effect.forEach(some, () => newId("rev"))
    yield* storage.commit({
      puts: some.map((copy, index) => putReview(ids[index]!, 0, { ...review, ...copy, question: null })),
      records: some.map((copy, index) => openedRecord(ids[index]!, { ...review, ...copy }))
    })
    all.push(...ids)
  }
  return all
})

const openedRecord = (id: string, review: ReviewDocument): RecordDraft => {
  const body = {
    action_digest: review.actionDigest,
    agent_id: review.agentId,
    evaluation_id: review.evaluationId,
    expires_at_ms: review.expiresAtMs,
    layers: review.layers.map(({ envelopeId, version }) => ({ envelope_id: envelopeId, version })),
    matched_rule: review.matchedRule,
    needs: review.needs.map(({ approvals }) => ({ approvals })),
    opened_at_ms: review.openedAtMs,
    review_id: id,
    two_person: review.twoPerson,
    writer: review.requestedBy
  }
  return {
    kind: "review.opened",
    agentId: review.agentId,
    body,
    parts: [],
    once: { scope: REVIEW_SCOPE, key: id, digest: review.actionDigest }
  }
}
