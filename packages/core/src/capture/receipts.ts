/** What a caller is told after a commit. */
import type { ReceiptsOut } from "@flyball/contract"
import { decisionId, toHex } from "@flyball/evidence"
import type { CommitReceipt } from "../storage/port.ts"

/** A record hash as the interface writes it. */
export const recordHash = (hash: Uint8Array): string => `sha256:${toHex(hash)}`

/** One receipt per decision, in the caller's order, and the head after them. Ids are derived: decision 0001. */
export const receiptsOut = (originTag: Uint8Array, clientRefs: ReadonlyArray<string>, receipt: CommitReceipt): ReceiptsOut => ({
  receipts: receipt.records.map((record, index) => ({
    client_ref: clientRefs[index]!,
    decision_id: decisionId(record.atMs, record.seq, originTag),
    seq: record.seq,
    record_hash: recordHash(record.hash),
    duplicate: record.duplicate
  })),
  head: { seq: receipt.head.seq, record_hash: recordHash(receipt.head.hash) }
})
