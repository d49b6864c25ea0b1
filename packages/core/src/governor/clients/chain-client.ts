/** The chain as a host sees it: what its rows do not say. */
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { recordHash } from "../../foundation/ids.ts"
import { Chain } from "../../chain/chain.ts"
import { KeyRotation, type Rotated } from "../../chain/rotate-key.ts"
import type { ChainClient } from "../governor.ts"
import type { StoredRecord } from "../../storage/port.ts"
import type { Client } from "./client.ts"
import { decodeRecordFilter, decodeSeq } from "./input.ts"
import type { RecordInfo, RotationInfo } from "./types/chain-types.ts"

/** Records with their exact bytes, the newest note, the keys and their rotation. */
export const chainClient = ({
  run
}: Client): Pick<ChainClient, "records" | "record" | "checkpoint" | "keys" | "rotateKey"> => ({
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
