/** The answer to a caller after a commit. */
import type { DecisionIn, ReceiptsOut } from "@flyball/contract"
import { decisionId } from "@flyball/evidence"
import { recordHash } from "../../foundation/ids.ts"
import type { CommitReceipt, RecordReceipt } from "../../storage/port.ts"

/** One receipt per decision, in the caller's order, and the head after them. Ids are derived: decision 0001. */
export const receiptsOut = (
  originTag: Uint8Array,
  decisions: ReadonlyArray<DecisionIn>,
  receipt: CommitReceipt
): ReceiptsOut => ({
  receipts: receipt.records.map((record, index) => receiptOut(originTag, decisions[index]!.client_ref, record)),
  head: { seq: receipt.head.seq, record_hash: recordHash(receipt.head.hash) }
})

type DecisionReceipt = ReceiptsOut["receipts"][number]

/** Member by member: see `WitnessedDraft` for what a literal with members would cost. */
const receiptOut = (
  originTag: Uint8Array,
  clientRef: string,
  { atMs, duplicate, hash, seq }: RecordReceipt
): DecisionReceipt => {
  const out: { -readonly [Member in keyof DecisionReceipt]?: DecisionReceipt[Member] } = {}
  out.client_ref = clientRef
  out.decision_id = decisionId(atMs, seq, originTag)
  out.seq = seq
  out.record_hash = recordHash(hash)
  out.duplicate = duplicate
  return out as DecisionReceipt
}
