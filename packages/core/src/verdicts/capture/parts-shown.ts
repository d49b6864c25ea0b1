/** Shows what was sent beside a decision to those who may read it. Spec: api.md, GET /decisions/{id}. */
import type { DecisionDetail, DecisionOut } from "@flyball/contract"
import { isId } from "@flyball/contract"
import { type ReviewDocument, reviewIdOf, REVIEWS, shownSignals as exactValue } from "@flyball/rules"
import { Effect } from "effect"
import { covers, type Scope } from "../../foundation/scope.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Units in which a caller reads parts: of every decision, and of those that people reviewed. */
export interface PartReaders {
  readonly always: Scope
  readonly reviewed: Scope
}

const shownParts = ["args", "result", "labels"] as const

/** A decision with its parts, or without them. The result is that of the settlement, where it has one. */
export const partsShown = Effect.fnUntraced(function* (
  storage: StorageApi,
  decision: DecisionOut,
  orgUnit: string | null,
  { always, reviewed }: PartReaders
): Effect.fn.Return<DecisionDetail, ReadFault> {
  const parts = yield* storage.parts(decision.settled === null ? [decision.seq] : [decision.seq, decision.settled.seq])
  // Ascending by seq: a settlement is behind its decision.
  const last = (name: string) => parts.findLast((part) => part.name === name)
  const isShown = covers(always, orgUnit) || (covers(reviewed, orgUnit) && (yield* wasReviewed(storage, decision)))
  const value = (name: string): unknown => {
    const bytes = isShown ? last(name)?.bytes : null
    return bytes == null ? null : exactValue(bytes)
  }
  return {
    ...decision,
    args: value("args"),
    result: value("result"),
    labels: value("labels"),
    withheld: !isShown,
    erased: shownParts.filter((name) => last(name)?.erasedBy != null)
  }
})

/** Reports whether the decision names a review of its agent, or follows an evaluation that opened one. */
const wasReviewed = Effect.fnUntraced(function* (
  storage: StorageApi,
  { agent_id: agentId, approval_id: approval, evaluation_id: evaluation }: DecisionOut
): Effect.fn.Return<boolean, ReadFault> {
  for (const id of [approval, isId("evaluation", evaluation ?? "") ? reviewIdOf(evaluation!) : null]) {
    const document = isId("review", id ?? "") ? yield* storage.get(REVIEWS, id!) : null
    if (document !== null && (document.body as ReviewDocument).agentId === agentId) return true
  }
  return false
})
