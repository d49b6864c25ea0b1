/** Evaluations open reviews, and consume what people approved. */
import { isId } from "@flyball/contract"
import { fromUtf8 } from "@flyball/evidence"
import {
  actionNamed,
  approvalState,
  consumption,
  EVALUATION_SCOPE,
  type Presenting,
  REVIEWS,
  reviewTerms,
  signalsOf
} from "@flyball/rules"
import { Effect, Layer } from "effect"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
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
      approval: Effect.fnUntraced(function* (approvalId, { action, actionDigest, agentId, signals }) {
        const document = isId("review", approvalId) ? yield* storage.get(REVIEWS, approvalId) : null
        // A review of another agent is answered as none.
        if (document === null || document.body["agentId"] !== agentId) return noApproval
        const stored = storedReview(document)
        const isSameAction = (yield* reviewedAction(storage, stored.body.evaluationId)) === actionNamed(action, signals)
        const presenting = (layers: Presenting["layers"], terms: Presenting["terms"] = null): Presenting => ({
          agentId,
          actionDigest: actionDigest?.slice("sha256:".length) ?? null,
          layers,
          isSameAction,
          terms
        })
        const approval: ApprovalOf = {
          id: stored.id,
          approvedAt: (layers, obligations, atMs) =>
            approvalState(stored.body, presenting(layers, reviewTerms(obligations)), atMs) === "approved",
          reviewAt: (layers, atMs) =>
            approvalState(stored.body, presenting(layers), atMs) === "open" ? stored.id : null,
          consumed: ({ atMs, evaluationId, layers, obligations, outcome, writer }) => {
            const presented = presenting(layers, reviewTerms(obligations))
            const result = consumption(approvalState(stored.body, presented, atMs), outcome)
            return result === null
              ? null
              : {
                  ...planConsume(stored, evaluationId, result, atMs, writer).change,
                  sealBeforeMs: stored.body.expiresAtMs
                }
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

/** What the reviewed evaluation was about; null where its part was erased: then nobody knows what people approved. */
const reviewedAction = Effect.fnUntraced(function* (
  storage: StorageApi,
  evaluationId: string
): Effect.fn.Return<string | null, ReadFault> {
  const [found] = yield* storage.once(EVALUATION_SCOPE, [evaluationId])
  if (found === undefined) return null
  const parts = new Map((yield* storage.parts([found.seq])).map(({ bytes, name }) => [name, bytes]))
  const [action, signals] = [parts.get("action"), parts.get("signals")]
  if (action === null || signals === null || signals === undefined) return null
  const name: unknown = action === undefined ? null : JSON.parse(fromUtf8(action) ?? "null")
  return actionNamed(typeof name === "string" ? name : null, signalsOf(signals))
})
