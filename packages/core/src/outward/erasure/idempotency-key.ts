/**
 * Finds the idempotency key of a record: its digest was made over the record's parts too, and must not outlive them.
 */
import { decisionId, type RecordView } from "@flyball/evidence"
import { Effect } from "effect"
import { SETTLE_SCOPE } from "../../verdicts/capture/plan-settle.ts"
import { EVALUATION_SCOPE } from "@flyball/rules"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** A once key. */
export interface ErasedKey {
  readonly scope: string
  readonly key: string
}

/**
 * The once key that stands for a record's parts; null when it has none, or one that says nothing of them.
 *
 * A plain digest of short content can be found by trying, and comparing answers with it is an oracle: decision 0002.
 */
export const erasedKeyOf = (
  storage: StorageApi,
  originTag: Uint8Array,
  { body, kind }: RecordView
): Effect.Effect<ErasedKey | null, ReadFault> => {
  if (kind === "decision.witnessed")
    return Effect.succeed({ scope: String(body["agent_id"]), key: String(body["client_ref"]) })
  if (kind === "evaluation.made") return Effect.succeed({ scope: EVALUATION_SCOPE, key: String(body["evaluation_id"]) })
  if (kind !== "decision.settled") return Effect.succeed(null)
  const seq = Number(body["decision_seq"])
  return Effect.map(storage.record(seq), (decision) =>
    decision === null ? null : { scope: SETTLE_SCOPE, key: decisionId(decision.atMs, seq, originTag) }
  )
}
