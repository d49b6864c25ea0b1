/** Sealed records in memory, with their parts, once keys and tile hashes of the Merkle tree. */
import { type Crypto, concatBytes, TILE_WIDTH, tileRoot } from "@flyball/evidence"
import type { Head, IdempotencyKey, RecordQuery, StoredPart, StoredRecord, TakenKey } from "../port.ts"
import type { SealedRecord } from "../seal.ts"

/** The chain. Arrays of bytes are copied on their way out: a store must not change because a reader did. */
export class ChainTable {
  readonly #records: Array<StoredRecord> = []
  readonly #byAgent = new Map<string, Array<number>>()
  /** Parts by name in the order of their record, by seq; absent where a record has none. */
  readonly #parts = new Map<number, Map<string, StoredPart>>()
  readonly #once = new Map<string, { readonly seq: number; readonly digest: string | null }>()
  readonly #tiles: TileHashes

  constructor(crypto: Crypto) {
    this.#tiles = new TileHashes(crypto)
  }

  head(): Head | null {
    const last = this.#records.at(-1)
    return last === undefined ? null : headOf(last)
  }

  /** Appends one record and everything that hangs on it. */
  append({ record, parts }: SealedRecord, once: IdempotencyKey | undefined): void {
    this.#records.push(record)
    this.#tiles.add(record.hash)
    if (record.agentId !== null) {
      const seqs = this.#byAgent.get(record.agentId)
      if (seqs === undefined) this.#byAgent.set(record.agentId, [record.seq])
      else seqs.push(record.seq)
    }
    if (parts.length > 0)
      this.#parts.set(
        record.seq,
        new Map(parts.map(({ bytes, name, salt }) => [name, { seq: record.seq, name, salt, bytes, erasedBy: null }]))
      )
    if (once !== undefined) this.#once.set(`${once.scope}\0${once.key}`, { seq: record.seq, digest: once.digest })
  }

  /** Deletes a part's bytes and salt. The maps held the only copies. */
  erase(seq: number, name: string, erasedBy: number): void {
    const part = this.#parts.get(seq)?.get(name)
    part?.bytes?.fill(0)
    part?.salt?.fill(0)
    this.#parts.get(seq)?.set(name, { seq, name, salt: null, bytes: null, erasedBy })
  }

  once(scope: string, key: string): { readonly seq: number; readonly digest: string | null } | null {
    return this.#once.get(`${scope}\0${key}`) ?? null
  }

  /** Keys in the order in which they were taken: a map keeps the place of an entry that is set again. */
  idempotencyKeys(after: Pick<TakenKey, "scope" | "key"> | null, limit: number): ReadonlyArray<TakenKey> {
    const last = after === null ? null : `${after.scope}\0${after.key}`
    const out: Array<TakenKey> = []
    let behind = last === null
    for (const [slot, taken] of this.#once) {
      if (out.length === limit) break
      const end = slot.indexOf("\0")
      if (behind) out.push({ scope: slot.slice(0, end), key: slot.slice(end + 1), ...taken })
      else behind = slot === last
    }
    return out
  }

  /** Deletes the digest of a once key that is taken. */
  forget(scope: string, key: string): void {
    const taken = this.once(scope, key)
    if (taken !== null) this.#once.set(`${scope}\0${key}`, { seq: taken.seq, digest: null })
  }

  partState(seq: number, name: string): "present" | "erased" | "missing" {
    const part = this.#parts.get(seq)?.get(name)
    return part === undefined ? "missing" : part.erasedBy === null ? "present" : "erased"
  }

  record(seq: number): StoredRecord | null {
    const record = this.#records[seq]
    return record === undefined ? null : copyOf(record)
  }

  records(query: RecordQuery): ReadonlyArray<StoredRecord> {
    const seqs = query.agentId === undefined ? null : (this.#byAgent.get(query.agentId) ?? [])
    const seqAt = (index: number): number => (seqs === null ? index : seqs[index]!)
    const length = seqs?.length ?? this.#records.length
    const first = lowerBound(length, seqAt, query.from ?? 0)
    const end = query.to === undefined ? length : lowerBound(length, seqAt, query.to + 1)
    const out: Array<StoredRecord> = []
    for (let i = 0; i < end - first && out.length < query.limit; i++) {
      const record = this.#records[seqAt(query.order === "desc" ? end - 1 - i : first + i)]!
      if (query.kinds === undefined || query.kinds.includes(record.kind)) out.push(copyOf(record))
    }
    return out
  }

  parts(seqs: ReadonlyArray<number>): ReadonlyArray<StoredPart> {
    return [...new Set(seqs)]
      .sort((a, b) => a - b)
      .flatMap((seq) => [...(this.#parts.get(seq)?.values() ?? [])].map(copyOfPart))
  }

  hashes(tileLevel: number, from: number, count: number): Uint8Array {
    return this.#tiles.read(tileLevel, from, count)
  }
}

/** The head that this record makes. */
export const headOf = ({ seq, hash, atMs }: Head): Head => ({ seq, hash: hash.slice(), atMs })

/** The first index whose seq is not under `seq`; `length` when all are. */
const lowerBound = (length: number, seqAt: (index: number) => number, seq: number): number => {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (seqAt(middle) < seq) low = middle + 1
    else high = middle
  }
  return low
}

const copyOf = (record: StoredRecord): StoredRecord => ({
  ...record,
  bytes: record.bytes.slice(),
  hash: record.hash.slice()
})

const copyOfPart = (part: StoredPart): StoredPart =>
  part.erasedBy === null ? { ...part, salt: part.salt.slice(), bytes: part.bytes.slice() } : part

/** Hashes of tree levels 0, 8, 16 … as far as they are complete. */
export class TileHashes {
  readonly #crypto: Crypto
  readonly #levels: Array<Array<Uint8Array>> = [[]]

  constructor(crypto: Crypto) {
    this.#crypto = crypto
  }

  /** Adds the next leaf hash, and the node above every tile that it completes. */
  add(leaf: Uint8Array): void {
    let hash = leaf
    for (let level = 0; ; level++) {
      const hashes = (this.#levels[level] ??= [])
      hashes.push(hash)
      if (hashes.length % TILE_WIDTH !== 0) return
      hash = tileRoot(this.#crypto, concatBytes(...hashes.slice(-TILE_WIDTH)))
    }
  }

  /** `count` hashes of a tile level from index `from`, joined; fewer past the end. */
  read(tileLevel: number, from: number, count: number): Uint8Array {
    return concatBytes(...(this.#levels[tileLevel] ?? []).slice(from, from + count))
  }
}
