/** Records, parts, idempotency keys and documents as rows. */
import type {
  ChangeSet,
  DocumentPut,
  DocumentText,
  Head,
  IdempotencyKey,
  RecordQuery,
  SealedRecord,
  StoredPart,
  StoredRecord,
  TakenKey
} from "@flyball/core/storage"
import { compareText } from "@flyball/core/storage"
import { type Crypto, concatBytes, TILE_WIDTH, tileRoot } from "@flyball/evidence"
import type { Files } from "./files.ts"

type RecordRow = StoredRecord & { readonly parts: ReadonlyArray<string> }
type DocumentRow = DocumentText & Pick<DocumentPut, "keys" | "unique">

const slot = (...names: ReadonlyArray<string | number>): string => names.join("\0")

/** The chain, with everything that hangs on its records. */
export class Chain {
  readonly #files: Files
  readonly #crypto: Crypto

  constructor(files: Files, crypto: Crypto) {
    this.#files = files
    this.#crypto = crypto
  }

  get head(): Head | null {
    const last = this.#row(this.#files.all("record").size - 1)
    return last === undefined ? null : { seq: last.seq, hash: last.hash.slice(), atMs: last.atMs }
  }

  append({ parts, record }: SealedRecord, once: IdempotencyKey | undefined): void {
    const { agentId, atMs, bytes, hash, kind, seq } = record
    const names = parts.map(({ name }) => name)
    this.#files.put("record", String(seq), { seq, bytes, hash, kind, agentId, atMs, parts: names })
    for (const part of parts) this.#files.put("part", slot(seq, part.name), { seq, ...part, erasedBy: null })
    if (once !== undefined) this.#files.put("once", slot(once.scope, once.key), { ...once, seq })
  }

  erase(seq: number, name: string, erasedBy: number): void {
    this.#files.put("part", slot(seq, name), { seq, name, salt: null, bytes: null, erasedBy })
  }

  forget(scope: string, key: string): void {
    const taken = this.once(scope, key)
    if (taken !== null) this.#files.put("once", slot(scope, key), { ...taken, digest: null })
  }

  once(scope: string, key: string): TakenKey | null {
    return this.#files.get<TakenKey>("once", slot(scope, key)) ?? null
  }

  onceKeys(after: Pick<TakenKey, "scope" | "key"> | null, limit: number): ReadonlyArray<TakenKey> {
    const last = after === null ? "" : slot(after.scope, after.key)
    return [...this.#files.all<TakenKey>("once")]
      .filter(([name]) => compareText(name, last) > 0)
      .sort(([a], [b]) => compareText(a, b))
      .slice(0, limit)
      .map(([, { digest, key, scope, seq }]) => ({ scope, key, seq, digest }))
  }

  partState(seq: number, name: string): "present" | "erased" | "missing" {
    const part = this.#files.get<StoredPart>("part", slot(seq, name))
    return part === undefined ? "missing" : part.erasedBy === null ? "present" : "erased"
  }

  parts(seqs: ReadonlyArray<number>): ReadonlyArray<StoredPart> {
    return [...new Set(seqs)]
      .sort((a, b) => a - b)
      .flatMap(
        (seq) => this.#row(seq)?.parts.map((name) => this.#files.get<StoredPart>("part", slot(seq, name))!) ?? []
      )
      .map((part) => (part.erasedBy === null ? { ...part, salt: part.salt.slice(), bytes: part.bytes.slice() } : part))
  }

  record(seq: number): StoredRecord | null {
    const row = this.#row(seq)
    if (row === undefined) return null
    const { parts: _, ...record } = row
    return { ...record, bytes: record.bytes.slice(), hash: record.hash.slice() }
  }

  records({ agentId, from = 0, kinds, limit, order, to }: RecordQuery): ReadonlyArray<StoredRecord> {
    const first = Math.max(0, from)
    const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, this.#files.all("record").size - 1)
    const found: Array<StoredRecord> = []
    for (let at = 0; at <= last - first && found.length < limit; at++) {
      const row = this.#row(order === "desc" ? last - at : first + at)!
      if ((kinds === undefined || kinds.includes(row.kind)) && (agentId === undefined || row.agentId === agentId))
        found.push(this.record(row.seq)!)
    }
    return found
  }

  hashes(tileLevel: number, from: number, count: number): Uint8Array {
    const nodes: Array<Uint8Array> = []
    for (let index = from; index < from + count; index++) {
      const node = this.#node(tileLevel, index)
      if (node === null) break
      nodes.push(node)
    }
    return concatBytes(...nodes)
  }

  /** A node of the tree, made from the leaves; null while it is not complete. */
  #node(tileLevel: number, index: number): Uint8Array | null {
    if ((index + 1) * TILE_WIDTH ** tileLevel > this.#files.all("record").size) return null
    if (tileLevel === 0) return this.#row(index)!.hash
    return tileRoot(this.#crypto, this.hashes(tileLevel - 1, index * TILE_WIDTH, TILE_WIDTH))
  }

  #row(seq: number): RecordRow | undefined {
    return this.#files.get<RecordRow>("record", String(seq))
  }
}

/** Documents with their look-up keys. */
export class Documents {
  readonly #files: Files

  constructor(files: Files) {
    this.#files = files
  }

  get(collection: string, id: string): DocumentText | null {
    return this.#files.get<DocumentRow>("document", slot(collection, id)) ?? null
  }

  version(collection: string, id: string): number {
    return this.get(collection, id)?.version ?? 0
  }

  write(puts: ReadonlyArray<{ readonly put: DocumentPut; readonly json: string }>): void {
    for (const { json, put } of puts) {
      const { collection, id, keys = {}, unique = {} } = put
      const version = this.version(collection, id) + 1
      this.#files.put("document", slot(collection, id), { collection, id, version, body: json, keys, unique })
    }
  }

  delete(documents: NonNullable<ChangeSet["deletes"]>): void {
    for (const { collection, id } of documents) this.#files.remove("document", slot(collection, id))
  }

  uniqueHolder(collection: string, key: string, value: string): string | null {
    return this.#of(collection).find(({ unique }) => unique?.[key] === value)?.id ?? null
  }

  find(collection: string, key: string, value: string): ReadonlyArray<DocumentText> {
    return this.#of(collection).filter(({ keys, unique }) => keys?.[key] === value || unique?.[key] === value)
  }

  list(collection: string, after = "", limit = Number.POSITIVE_INFINITY): ReadonlyArray<DocumentText> {
    return this.#of(collection)
      .filter(({ id }) => compareText(id, after) > 0)
      .slice(0, limit)
  }

  #of(collection: string): ReadonlyArray<DocumentRow> {
    return [...this.#files.all<DocumentRow>("document").values()]
      .filter((row) => row.collection === collection)
      .sort((a, b) => compareText(a.id, b.id))
  }
}
