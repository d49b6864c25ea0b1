/** The chain as a host sees it. */
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { recordHash } from "../../foundation/record-hash.ts"
import { Chain } from "../../chain/chain.ts"
import { Parts } from "../../outward/parts/service.ts"
import { KeyRotation, type Rotated } from "../../chain/rotate-key.ts"
import type { Governor } from "../governor.ts"
import type { StoredRecord } from "../../storage/port.ts"
import type { Client } from "./client.ts"
import { decodeProof, decodeRange, decodeRecordFilter, decodeSeq, decodeSizes } from "./input.ts"
import type { RecordInfo, RotationInfo } from "./types/chain-types.ts"

/** Reads and proofs of the chain, and the rotation of its key. */
export const chainClient = (client: Client): Governor["chain"] => ({
  ...callsOf(client),
  origin: client.origin,
  get vkey() {
    return client.vkey
  }
})

const callsOf = ({ run }: Client): Omit<Governor["chain"], "origin" | "vkey"> => ({
  head: (options) =>
    run(
      Chain.use((chain) => chain.head),
      options
    ),
  verify: (range = {}, options) =>
    run(
      Effect.flatMap(decodeRange(range), ({ from, to }) => Chain.use((chain) => chain.verify(from, to))),
      options
    ),
  records: (filter = {}, options) =>
    run(
      Effect.flatMap(decodeRecordFilter(filter), (query) =>
        Chain.use((chain) => Effect.map(chain.records(query), (records) => records.map(recordInfo)))
      ),
      options
    ),
  record: (seq, options) =>
    run(
      Effect.flatMap(decodeSeq(seq), () => Chain.use((chain) => Effect.map(chain.record(seq), recordInfo))),
      options
    ),
  part: (seq, name, options) =>
    run(
      Effect.flatMap(decodeSeq(seq), () => Parts.use((parts) => parts.get(seq, name))),
      options
    ),
  proof: (seq, treeSize, options) =>
    run(
      Effect.flatMap(decodeProof(seq, treeSize), (read) => Chain.use((chain) => chain.proof(read.seq, read.treeSize))),
      options
    ),
  consistency: (from, to, options) =>
    run(
      Effect.flatMap(decodeSizes(from, to), (read) => Chain.use((chain) => chain.consistency(read.from, read.to))),
      options
    ),
  checkpoint: (options) =>
    run(
      Chain.use((chain) => chain.checkpointText),
      options
    ),
  keys: (options) =>
    run(
      Chain.use((chain) => chain.keys),
      options
    ),
  rotateKey: (options) =>
    run(
      KeyRotation.use(({ rotate }) => Effect.map(rotate, rotationInfo)),
      options
    )
})

const rotationInfo = ({ checkpoint: { note, rootHex, size }, fromVkey, seq, toVkey }: Rotated): RotationInfo => ({
  seq,
  from_vkey: fromVkey,
  to_vkey: toVkey,
  checkpoint: { size, root_hash: `sha256:${rootHex}`, note }
})

const recordInfo = (record: StoredRecord): RecordInfo => ({
  seq: record.seq,
  kind: record.kind,
  agent_id: record.agentId,
  at: formatInstant(record.atMs),
  record_hash: recordHash(record.hash),
  bytes: record.bytes
})
