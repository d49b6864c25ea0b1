/** Checks one stored record against its own bytes and the record before it. Pure. */
import type { Crypto, RecordView } from "@flyball/evidence"
import { equalBytes, readRecord, toHex } from "@flyball/evidence"
import type { StoredRecord } from "../../storage/port.ts"
import type { ChainFinding } from "./findings.ts"

/** The sequence number and hash of the record before, which the next record must follow. */
export interface Previous {
  readonly seq: number
  /** Computed from the bytes before, never read from a column. */
  readonly hash: Uint8Array
  /** The greatest instant so far. */
  readonly atMs: number
}

/** A checked record: the hash of its bytes, what they say, and what is wrong. */
export interface CheckedRecord {
  readonly hash: Uint8Array
  /** Null when the bytes cannot be read as a record. */
  readonly view: RecordView | null
  readonly next: Previous
  readonly findings: ReadonlyArray<ChainFinding>
}

/**
 * Recomputes everything about a record that follows from its bytes.
 *
 * - Checks: form, `seq`, `prev`, `at`, and the store's columns (seq, hash, kind, time) against the bytes.
 * - Spec: chain-format sections 1, 2 and 6.
 */
export const checkRecord = (crypto: Crypto, stored: StoredRecord, previous: Previous | null): CheckedRecord => {
  const findings: Array<ChainFinding> = []
  const seq = previous === null ? 0 : previous.seq + 1
  const add = (code: ChainFinding["code"], expected: string, found: string): void => {
    findings.push({ code, seq, expected, found })
  }
  const hash = crypto.leafHash(stored.bytes)
  if (stored.seq !== seq) add("E_SEQ", `record ${seq} in row ${seq}`, `row ${stored.seq}`)
  if (!equalBytes(hash, stored.hash)) add("E_HASH", `the hash of the stored bytes, ${toHex(hash)}`, toHex(stored.hash))
  const read = readRecord(stored.bytes)
  if (!read.ok) {
    add(read.code, read.expected, read.found)
    return { hash, view: null, next: { seq, hash, atMs: previous?.atMs ?? 0 }, findings }
  }
  const view = read.record
  if (view.seq !== seq) add("E_SEQ", `seq ${seq}`, `seq ${view.seq}`)
  const prev = previous === null ? "0".repeat(64) : toHex(previous.hash)
  if (view.prev !== prev) add("E_PREV", prev, view.prev)
  if (previous !== null && view.atMs < previous.atMs)
    add("E_TIME", "an instant not before that of the record before", view.at)
  if ((view.kind === "chain.genesis") !== (seq === 0))
    add("E_SEQ", seq === 0 ? "chain.genesis as record 0" : "chain.genesis as record 0 only", view.kind)
  if (view.kind !== stored.kind) add("E_COLUMN", `kind ${view.kind}`, `kind ${stored.kind}`)
  if (view.atMs !== stored.atMs) add("E_COLUMN", `time ${view.atMs}`, `time ${stored.atMs}`)
  const agentId = view.body["agent_id"]
  // The record of an erasure stands under its target's agent without naming it.
  if (typeof agentId === "string" && stored.agentId !== agentId)
    add("E_COLUMN", `agent ${agentId}`, stored.agentId === null ? "no agent" : `agent ${stored.agentId}`)
  return { hash, view, next: { seq, hash, atMs: Math.max(view.atMs, previous?.atMs ?? 0) }, findings }
}
