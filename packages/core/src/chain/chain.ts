/**
 * The Chain: what is sealed, read and proved. Spec: document 1 section 4, `/chain`; api "decisions, chain, evidence".
 */
import type { ConsistencyOut, GenesisOut, HeadOut, KeysOut, ProofOut, RecordsQuery, VerifyOut } from "@flyball/contract"
import { ChainNotFound, DEFAULT_PAGE, detailItem, InvalidInput, RecordNotFound } from "@flyball/contract"
import { consistencyProof, parseVkey, toHex } from "@flyball/evidence"
import { Clock, Context, Effect, Layer } from "effect"
import { StorageCorrupt } from "../storage/faults.ts"
import { type Head, type ReadFault, Storage, type StoredRecord } from "../storage/port.ts"
import { RetiredStores } from "../storage/retirement.ts"
import { raiseAlarm } from "./alarm.ts"
import { type KeySince, readChainKeys } from "./keys/chain-keys.ts"
import { latestCheckpoint } from "./check/checkpoints.ts"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import type { Guard } from "./keys/guard.ts"
import { type ChainOptions, openChain } from "./open.ts"
import { prover } from "./check/proof.ts"
import { provedGenesis, retiredGeneses } from "./proved-genesis.ts"
import type { Signer } from "./keys/signer.ts"
import type { StartError } from "./keys/start-errors.ts"
import { storedTree } from "./check/tree.ts"
import { verifyRange } from "./check/verify.ts"

/** A key that signs, or signed, for the chain. */
export type ChainKey = KeysOut["keys"][number]

/**
 * Reads of the chain and its proofs. Spec: document 1 section 4, GET /chain/head and /chain/verify; format 1 section 2.
 */
export interface ChainApi {
  readonly origin: string
  /** First 4 bytes of SHA-256 of the origin: the tag inside derived ids. */
  readonly originTag: Uint8Array
  /** The key that checkpoints are signed with, as it was when the chain was opened, or when `keys` was read last. */
  readonly vkey: string
  readonly head: Effect.Effect<HeadOut, ReadFault>
  /**
   * Recomputes `from` to `to` from the stored bytes; both default to all there is, and `to` past the head means the
   * head.
   */
  readonly verify: (from?: number, to?: number) => Effect.Effect<VerifyOut, InvalidInput | ReadFault>
  readonly record: (seq: number) => Effect.Effect<StoredRecord, RecordNotFound | ReadFault>
  /** Oldest first, 100 unless a limit is given. */
  readonly records: (query: RecordsQuery) => Effect.Effect<ReadonlyArray<StoredRecord>, ReadFault>
  /** Default tree: the last checkpoint's where it covers the record, else the head's. */
  readonly proof: (seq: number, treeSize?: number) => Effect.Effect<ProofOut, RecordNotFound | InvalidInput | ReadFault>
  /** `to` defaults to the head's tree. */
  readonly consistency: (from: number, to?: number) => Effect.Effect<ConsistencyOut, InvalidInput | ReadFault>
  /** The last signed note; null before the first. */
  readonly checkpointText: Effect.Effect<string | null, ReadFault>
  readonly keys: Effect.Effect<ReadonlyArray<ChainKey>, ReadFault>
  /**
   * Record 0 with its proof by the last signed note, and the part that names the chain before. Of this chain, or of the
   * retired chain with this name.
   */
  readonly genesis: (origin?: string) => Effect.Effect<GenesisOut, ChainNotFound | ReadFault>
}

/** The chain of this store. Spec: document 1 section 4, GET /chain/head and /chain/verify; format 1 section 2. */
export class Chain extends Context.Service<Chain, ChainApi>()("flyball/core/Chain") {
  /** Opens the chain, makes genesis in an empty store. */
  static readonly layer = (options: ChainOptions = {}): Layer.Layer<Chain, StartError, Storage | Signer | Guard> =>
    Layer.effect(Chain, make(options))
}

const make = Effect.fnUntraced(function* (options: ChainOptions) {
  const opened = yield* openChain(options)
  const storage = yield* Storage
  const crypto = yield* EvidenceCrypto
  const tree = storedTree(storage, crypto)

  const currentHead: Effect.Effect<Head, ReadFault> = Effect.flatMap(storage.head, (head) =>
    head === null
      ? Effect.fail(new StorageCorrupt({ reason: "the chain was opened and is empty now" }))
      : Effect.succeed(head)
  )

  const checkpointText = Effect.map(latestCheckpoint(storage), (latest) => latest?.note ?? null)

  // The root over the last reported head. It follows from the head, which is read far more often than it changes.
  let reported: { readonly recordHash: string; readonly rootHash: string } | null = null
  const head: ChainApi["head"] = Effect.gen(function* () {
    const [checkpoint, { hash, seq }] = yield* Effect.all([checkpointText, currentHead], { concurrency: "unbounded" })
    const recordHash = digest(hash)
    if (reported?.recordHash !== recordHash) reported = { recordHash, rootHash: digest(yield* tree.rootAt(seq + 1)) }
    return { seq, record_hash: recordHash, tree_size: seq + 1, root_hash: reported.rootHash, checkpoint }
  })

  // The records say which key is the current one; what was read last is remembered for those who cannot wait.
  let { vkey } = opened
  const keys: ChainApi["keys"] = Effect.map(readChainKeys(storage, crypto), ({ keys: named }) => {
    vkey = named.at(-1)!.vkey
    return named.map((key, index) => keyOf(key, index === named.length - 1))
  })

  const verify: ChainApi["verify"] = Effect.fnUntraced(function* (first = 0, last) {
    const startedMs = yield* Clock.currentTimeMillis
    const at = yield* head
    const to = Math.min(last ?? at.seq, at.seq)
    if (first > to) return yield* outside("query", "from", first, `a record at or before ${to}`)
    const named = (yield* readChainKeys(storage, crypto)).keys
    const { checked, checkpoint, findings } = yield* verifyRange(
      storage,
      crypto,
      { origin: opened.origin, keys: named },
      first,
      to
    )
    const [found] = findings.listed
    if (found !== undefined && options.readOnly !== true)
      yield* raiseAlarm(storage, { code: found.code, seq: found.seq, foundBy: "check" })
    return {
      ok: findings.none,
      checked,
      from: first,
      to,
      head: at,
      first_bad_seq: findings.firstBadSeq,
      findings: findings.listed,
      checkpoint:
        checkpoint === null
          ? null
          : { tree_size: checkpoint.size, root_hash: `sha256:${checkpoint.rootHex}`, ok: checkpoint.ok },
      duration_ms: (yield* Clock.currentTimeMillis) - startedMs
    }
  })

  const record: ChainApi["record"] = Effect.fnUntraced(function* (seq) {
    return (yield* storage.record(seq)) ?? (yield* new RecordNotFound({ seq }))
  })

  const records: ChainApi["records"] = (query) =>
    storage.records({
      limit: query.limit ?? DEFAULT_PAGE,
      ...(query.from === undefined ? {} : { from: query.from }),
      ...(query.kind === undefined ? {} : { kinds: [query.kind] }),
      ...(query.agent_id === undefined ? {} : { agentId: query.agent_id })
    })

  const consistency: ChainApi["consistency"] = Effect.fnUntraced(function* (from, to) {
    const size = (yield* currentHead).seq + 1
    const end = to ?? size
    if (end > size) return yield* outside("query", "to", end, `a tree size up to ${size}`)
    if (from > end) return yield* outside("query", "from", from, `a tree size up to ${end}`)
    const hashes = yield* tree.with((read) => consistencyProof(crypto, from, end, read))
    return {
      from,
      to: end,
      from_root: digest(yield* tree.rootAt(from)),
      to_root: digest(yield* tree.rootAt(end)),
      proof: hashes.map(digest)
    }
  })

  const { origin, originTag } = opened
  const prove = prover(storage, crypto, tree)
  const findRetired = retiredGeneses(crypto, yield* RetiredStores)
  const genesis: ChainApi["genesis"] = Effect.fnUntraced(function* (named = origin) {
    if (named === origin) return yield* provedGenesis(storage, crypto, origin)
    return (yield* findRetired(named)) ?? (yield* new ChainNotFound({ origin: named }))
  })
  return Chain.of({
    origin,
    originTag,
    get vkey() {
      return vkey
    },
    head,
    verify,
    record,
    records,
    proof: prove,
    consistency,
    checkpointText,
    genesis,
    keys
  })
})

const digest = (hash: Uint8Array): string => `sha256:${toHex(hash)}`

const outside = (slot: string, name: string, input: number, expected: string): InvalidInput =>
  new InvalidInput({ detail: [detailItem([slot, name], "value_error", `Expected ${expected}`, input)] })

const keyOf = ({ seq, vkey }: KeySince, current: boolean): ChainKey => {
  const parsed = parseVkey(vkey)
  return {
    vkey,
    key_id: parsed.ok ? toHex(parsed.vkey.keyId) : "",
    name: parsed.ok ? parsed.vkey.name : "",
    since_seq: seq,
    current
  }
}
