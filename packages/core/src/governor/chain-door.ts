/** The chain as a host sees it. */
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { recordHash } from "../capture/receipts.ts"
import { Chain } from "../chain/chain.ts"
import type { Governor } from "../governor.ts"
import type { StoredRecord } from "../storage/port.ts"
import type { Door } from "./door.ts"
import { decodeProof, decodeRange, decodeRecordFilter, decodeSeq } from "./input.ts"
import type { RecordInfo } from "./types.ts"

/** Reads and proofs of the chain. */
export const chainDoor = ({ origin, run, vkey }: Door): Governor["chain"] => ({
  origin,
  vkey,
  head: (options) => run(Chain.use((chain) => chain.head), options),
  verify: (range = {}, options) => run(Effect.flatMap(decodeRange(range), ({ from, to }) => Chain.use((chain) => chain.verify(from, to))), options),
  records: (filter = {}, options) =>
    run(Effect.flatMap(decodeRecordFilter(filter), (query) => Chain.use((chain) => Effect.map(chain.records(query), (records) => records.map(recordInfo)))), options),
  record: (seq, options) => run(Effect.flatMap(decodeSeq(seq), () => Chain.use((chain) => Effect.map(chain.record(seq), recordInfo))), options),
  proof: (seq, treeSize, options) =>
    run(Effect.flatMap(decodeProof(seq, treeSize), () => Chain.use((chain) => chain.proof(seq, treeSize))), options),
  consistency: (from, to, options) =>
    run(Effect.flatMap(decodeRange(to === undefined ? { from } : { from, to }), () => Chain.use((chain) => chain.consistency(from, to))), options),
  checkpoint: (options) => run(Chain.use((chain) => chain.checkpointText), options),
  keys: (options) => run(Chain.use((chain) => chain.keys), options)
})

const recordInfo = (record: StoredRecord): RecordInfo => ({
  seq: record.seq,
  kind: record.kind,
  agent_id: record.agentId,
  at: formatInstant(record.atMs),
  record_hash: recordHash(record.hash),
  bytes: record.bytes
})
