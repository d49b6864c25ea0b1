/** Evaluations open reviews, and consume what people approved. */
import { isId } from "@flyball/contract"
import {
  approvalState,
  questionKey,
  questionOf,
  isSameLayers,
  type Presenting,
  REVIEW_KEYS,
  REVIEWS,
  reviewTerms
} from "@flyball/rules"
import { Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { type ChangeSet, Storage } from "../../storage/port.ts"
import { type ApprovalOf, EvaluationSteps, noApproval } from "../evaluations/ports.ts"
import { liftedEnds } from "./lifted-ends.ts"
import { planCancel, planExpire } from "./plan-expire.ts"
import { planConsume } from "./plan-consume.ts"
import { planOpen } from "./plan-open.ts"
import { storedReview } from "./stored-review.ts"

/** The steps of an evaluation with the reviews of its agent; all else stays as it was provided. */
export const reviewSteps: Layer.Layer<never, never, Storage> = Layer.effect(
  EvaluationSteps,
  Effect.gen(function* () {
    const others = yield* EvaluationSteps
    const storage = yield* Storage
    const crypto = yield* EvidenceCrypto
    return {
      ...others,
      approval: Effect.fnUntraced(function* (approvalId, { action, actionDigest, agentId, redactedArgs, signals }) {
        const document = isId("review", approvalId) ? yield* storage.get(REVIEWS, approvalId) : null
        // A review of another agent is answered as none.
        if (document === null || document.body["agentId"] !== agentId) return noApproval
        const stored = storedReview(document)
        const isLifted = (yield* liftedEnds(storage, [stored])).has(stored.id)
        const question = questionOf(crypto.sha256, action, signals, redactedArgs)
        const presenting = (layers: Presenting["layers"], terms: Presenting["terms"] = null): Presenting => ({
          agentId,
          actionDigest: actionDigest?.slice("sha256:".length) ?? null,
          layers,
          isSameAction: stored.body.question === question,
          terms
        })
        const approval: ApprovalOf = {
          id: stored.id,
          approvedAt: (layers, obligations, atMs) =>
            approvalState(stored.body, presenting(layers, reviewTerms(obligations)), atMs) === "approved",
          reviewAt: (layers, atMs) =>
            !isLifted &&
            isSameLayers(stored.body.layers, layers) &&
            approvalState(stored.body, presenting(layers), atMs) === "open"
              ? stored.id
              : null,
          consumed: (concluded) =>
            planConsume(stored, presenting(concluded.layers, reviewTerms(concluded.obligations)), concluded),
          expects: [{ collection: REVIEWS, id: stored.id, version: stored.version }]
        }
        return approval
      }),
      review: Effect.fnUntraced(function* (concluded, { action, redactedArgs, signals }, inCommit) {
        const { actionDigest, agentId, atMs, layers, obligations, writer } = concluded
        if (actionDigest === null) return { reviewId: null, change: {} }
        const question = questionOf(crypto.sha256, action, signals, redactedArgs)
        const key = questionKey({ actionDigest, agentId, question, requestedBy: writer.id })!
        const before = inCommit.opened.get(key)
        if (before !== undefined) return { reviewId: before, change: {} }
        const presenting = { agentId, actionDigest, layers, isSameAction: true, terms: reviewTerms(obligations) }
        const ends: Array<ChangeSet> = []
        const sameQuestion = (yield* storage.find(REVIEWS, REVIEW_KEYS.question, key)).map(storedReview)
        const lifted = yield* liftedEnds(storage, sameQuestion)
        for (const stored of sameQuestion) {
          const { body, id, version } = stored
          const state = approvalState(body, presenting, atMs)
          const activationId = lifted.get(id) ?? null
          const isOpen = state === "open" && activationId === null && isSameLayers(body.layers, layers)
          if (isOpen || (state === "approved" && !inCommit.consumed.has(id)))
            return { reviewId: id, change: { expects: [{ collection: REVIEWS, id, version }] } }
          // Over by itself, and no job has recorded that yet: it gives its place to the new one.
          if (body.ended === null)
            ends.push(
              (state === "expired"
                ? planExpire(stored)
                : planCancel(stored, activationId === null ? "superseded" : "killed", atMs, { activationId })
              ).change
            )
        }
        const { change, reviewId } = planOpen({ ...concluded, actionDigest, question })
        inCommit.opened.set(key, reviewId)
        return {
          reviewId,
          change: {
            puts: [change, ...ends].flatMap(({ puts }) => puts ?? []),
            records: [change, ...ends].flatMap(({ records }) => records ?? []),
            events: [change, ...ends].flatMap(({ events }) => events ?? [])
          }
        }
      })
    }
  })
)
