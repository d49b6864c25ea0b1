/** Evaluations open reviews, and consume what people approved. */
import { isId } from "@flyball/contract"
import { approvalState, consumption, type Presenting, REVIEWS } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { Storage } from "../../storage/port.ts"
import { type ApprovalOf, EvaluationSteps, noApproval } from "../evaluations/ports.ts"
import { planConsume, planOpen } from "./plan-review.ts"
import { storedReview } from "./stored-review.ts"

/** The steps of an evaluation with the reviews of its agent; all else stays as it was provided. */
export const reviewSteps: Layer.Layer<never, never, Storage> = Layer.effect(
  EvaluationSteps,
  Effect.gen(function* () {
    const others = yield* EvaluationSteps
    const storage = yield* Storage
    return {
      ...others,
      approval: Effect.fnUntraced(function* (approvalId, agentId, actionDigest) {
        const document = isId("review", approvalId) ? yield* storage.get(REVIEWS, approvalId) : null
        // A review of another agent is answered as none.
        if (document === null || document.body["agentId"] !== agentId) return noApproval
        const stored = storedReview(document)
        const presenting = (layers: Presenting["layers"]): Presenting => ({
          agentId,
          actionDigest: actionDigest?.slice("sha256:".length) ?? null,
          layers
        })
        const approval: ApprovalOf = {
          id: stored.id,
          approvedAt: (layers, atMs) => approvalState(stored.body, presenting(layers), atMs) === "approved",
          reviewAt: (layers, atMs) =>
            approvalState(stored.body, presenting(layers), atMs) === "open" ? stored.id : null,
          consumed: ({ atMs, evaluationId, layers, outcome, writer }) => {
            const result = consumption(approvalState(stored.body, presenting(layers), atMs), outcome)
            return result === null ? null : planConsume(stored, evaluationId, result, atMs, writer).change
          },
          expects: [{ collection: REVIEWS, id: stored.id, version: stored.version }]
        }
        return approval
      }),
      follow: (concluded) => {
        const { actionDigest, outcome } = concluded
        return outcome === "require_review" && actionDigest !== null
          ? planOpen({ ...concluded, actionDigest })
          : { reviewId: null, change: {} }
      }
    }
  })
)
