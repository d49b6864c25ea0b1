/** Record 0: its members, and reading it back. Spec: chain-format section 1. */
import type { Crypto } from "@flyball/evidence"
import { equalBytes, readRecord } from "@flyball/evidence"
import type { PartDraft, RecordDraft, StoredRecord } from "../../storage/port.ts"

/** Content of record 0. */
export interface Genesis {
  readonly origin: string
  readonly vkeys: ReadonlyArray<string>
}

/** The draft of record 0. Only a chain that follows another one has parts. */
export const genesisDraft = (origin: string, vkey: string, parts: ReadonlyArray<PartDraft> = []): RecordDraft => ({
  kind: "chain.genesis",
  body: { hash: "sha256-rfc6962", origin, vkeys: [vkey] },
  parts,
  agentId: null
})

/** Reads record 0; a sentence when it is not a genesis that this version can carry on. */
export const readGenesis = (crypto: Crypto, record: StoredRecord): Genesis | string => {
  if (!equalBytes(crypto.leafHash(record.bytes), record.hash))
    return "record 0 does not have the hash that is stored for it"
  const read = readRecord(record.bytes)
  if (!read.ok) return `record 0 cannot be read (${read.code})`
  const { body, kind } = read.record
  if (kind !== "chain.genesis") return `record 0 is ${kind}, not chain.genesis`
  const { hash, origin, vkeys } = body
  if (hash !== "sha256-rfc6962") return "record 0 names another hash than sha256-rfc6962"
  if (
    typeof origin !== "string" ||
    !Array.isArray(vkeys) ||
    vkeys.length === 0 ||
    !vkeys.every((vkey) => typeof vkey === "string")
  ) {
    return "record 0 does not name an origin and its keys"
  }
  return { origin, vkeys }
}
