/** Finds a decision by its derived id: one read by seq, then a comparison. Decision 0001. */
import { equalBytes, parseDecisionId } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { StorageApi } from "../../storage/port.ts"

/** Seq and agent of a decision. */
export interface FoundDecision {
  readonly seq: number
  readonly agentId: string
}

/** A look-up by id; null for an id of another chain, of another record, or of nothing. */
export const decisionFinder = (storage: StorageApi, originTag: Uint8Array) =>
  Effect.fnUntraced(function* (decisionId: string) {
    const id = parseDecisionId(decisionId)
    if (id === null || !equalBytes(id.originTag, originTag)) return null
    const record = yield* storage.record(id.seq)
    if (record === null || record.kind !== "decision.witnessed" || record.atMs !== id.atMs) return null
    if (record.agentId === null)
      return yield* new StorageCorrupt({ reason: `the decision at seq ${record.seq} names no agent` })
    return { seq: record.seq, agentId: record.agentId } satisfies FoundDecision
  })
