/** Chains made from a seed, with everything in them that a verifier checks. */
import type { JsonObject, NodeReader, NoteSigner } from "@flyball/evidence"
import {
  encodeRecord,
  formatCheckpoint,
  formatInstant,
  formatNote,
  NO_RECORD,
  noteSigner,
  rootOfHashes,
  toHex,
  utf8
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { Random } from "./random.ts"
import { randomFrom } from "./random.ts"

/** A part as the writer of the chain keeps it. */
export interface ChainPart {
  readonly seq: number
  readonly name: string
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

/** A record, before and after it was sealed. */
export interface ChainRecord {
  readonly at: string
  readonly kind: string
  readonly body: JsonObject
  readonly parts: ReadonlyArray<ChainPart>
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
}

/** An erasure that happened: the record and the part, and the record that says so. */
export interface ChainErasure {
  readonly seq: number
  readonly name: string
  readonly erasingSeq: number
}

/** A chain with its key. */
export interface Chain {
  readonly origin: string
  readonly seed: Uint8Array
  readonly signer: NoteSigner
  readonly records: ReadonlyArray<ChainRecord>
  readonly erasures: ReadonlyArray<ChainErasure>
}

/** Fields of a record, as `sealAll` takes them. */
export interface Draft {
  readonly at: string
  readonly kind: string
  readonly body: JsonObject
  readonly parts: ReadonlyArray<ChainPart>
}

/** Makes a chain of some length. Record 4 erases part `owner` of record 2, where the chain is long enough. */
export const makeChain = (options: {
  readonly seed: number
  readonly length: number
  readonly origin?: string
}): Chain => {
  const { length, origin = "flyball.example/chain" } = options
  const random = randomFrom(options.seed)
  const seed = random.bytes(32)
  const signer = noteSigner(nodeCrypto, { name: origin, seed })
  let ms = Date.UTC(2026, 10, 21) + random.below(1000)
  const drafts = Array.from({ length }, (_, seq): Draft => {
    ms += random.below(3) * random.below(5000)
    return { at: formatInstant(ms), ...contentOf(random, seq, origin, signer.vkey) }
  })
  const erasures = length > ERASING_SEQ ? [{ seq: OWNED_SEQ, name: "owner", erasingSeq: ERASING_SEQ }] : []
  return { origin, seed, signer, erasures, records: sealAll(drafts) }
}

const OWNED_SEQ = 2
const ERASING_SEQ = 4

const contentOf = (random: Random, seq: number, origin: string, vkey: string): Omit<Draft, "at"> => {
  if (seq === 0) return { kind: "chain.genesis", body: { hash: "sha256-rfc6962", origin, vkeys: [vkey] }, parts: [] }
  if (seq === ERASING_SEQ)
    return { kind: "part.erased", body: { name: "owner", reason: "erasure_request", seq: OWNED_SEQ }, parts: [] }
  const part = (name: string): ChainPart => ({
    seq,
    name,
    salt: random.bytes(32),
    bytes: utf8(`{"${name}":${random.below(1e9)}}`)
  })
  if (seq === OWNED_SEQ)
    return {
      kind: "agent.registered",
      body: { agent_id: `agt_${random.below(1e9)}` },
      parts: [part("owner"), part("profile")]
    }
  const names = ["args", "labels", "result"].filter(() => random.below(2) === 0)
  return {
    kind: "decision.witnessed",
    body: {
      action: ["tool.call", "message", '发票 "\\\u0001'][random.below(3)]!,
      agent_id: `agt_${random.below(9)}`,
      latency_ms: random.below(1e6),
      usage: { tokens_in: random.below(1e5) }
    },
    parts: names.map(part)
  }
}

/** Seals drafts one after another from a state: fresh, or behind some records. */
export const sealAll = (
  drafts: ReadonlyArray<Draft>,
  before: ReadonlyArray<ChainRecord> = []
): ReadonlyArray<ChainRecord> => {
  const records = [...before]
  for (const draft of drafts) {
    const last = records.at(-1)
    const bytes = encodeRecord({
      at: draft.at,
      body: draft.body,
      kind: draft.kind,
      parts: draft.parts.map(({ bytes, name, salt }) => ({ c: toHex(nodeCrypto.commitment(salt, name, bytes)), name })),
      prev: last === undefined ? NO_RECORD : toHex(last.hash),
      seq: records.length
    })
    records.push({ ...draft, bytes, hash: nodeCrypto.leafHash(bytes) })
  }
  return records
}

/** A record of any bytes, as it would stand in a chain that let it in. */
export const rawRecord = (bytes: Uint8Array): ChainRecord => ({
  at: "",
  kind: "",
  body: {},
  parts: [],
  bytes,
  hash: nodeCrypto.leafHash(bytes)
})

/**
 * The checkpoint note over the first `size` records. Further lines (of cosigners, of other keys) may follow the log's.
 */
export const checkpointNote = (
  chain: Chain,
  size = chain.records.length,
  lines: ReadonlyArray<(text: string) => string> = []
): string => {
  const text = formatCheckpoint({ origin: chain.origin, size, root: rootOfHashes(nodeCrypto, hashesOf(chain, size)) })
  return formatNote(text, [chain.signer.line(text), ...lines.map((line) => line(text))])
}

/** Nodes of the tree over a chain, for proofs. */
export const readerOf =
  (chain: Chain): NodeReader =>
  async (coords) =>
    coords.map(({ index, level }) =>
      rootOfHashes(nodeCrypto, hashesOf(chain).slice(index * 2 ** level, (index + 1) * 2 ** level))
    )

const hashesOf = (chain: Chain, size = chain.records.length): ReadonlyArray<Uint8Array> =>
  chain.records.slice(0, size).map((record) => record.hash)

/**
 * The chain with the bytes of one record changed and everything after it sealed again: hashes, root and signatures will
 * all be right.
 */
export const withRecord = (chain: Chain, seq: number, change: (text: string) => string | Uint8Array): Chain => {
  const record = chain.records[seq]!
  const changed = change(new TextDecoder().decode(record.bytes))
  const raw = { ...record, ...rawRecord(typeof changed === "string" ? utf8(changed) : changed), parts: record.parts }
  return { ...chain, records: sealAll(chain.records.slice(seq + 1), [...chain.records.slice(0, seq), raw]) }
}
