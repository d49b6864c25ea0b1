/** State documents in memory, with their look-up keys. */
import type { DocumentPut, KeyRange } from "../port.ts"
import type { DocumentText } from "../read-documents.ts"
import { compareText } from "../../foundation/text.ts"
import { SortedIds } from "./sorted-ids.ts"

/** A document at rest: the body as text, so that nobody outside can change it. */
interface Row {
  readonly version: number
  readonly json: string
  readonly keys: ReadonlyArray<readonly [key: string, value: string]>
  readonly unique: ReadonlyArray<readonly [key: string, value: string]>
}

interface Collection {
  readonly rows: Map<string, Row>
  readonly ids: SortedIds
  /** Ids by (key, value), unique or not. */
  readonly found: Map<string, Set<string>>
  /** The one id by (key, value). */
  readonly unique: Map<string, string>
  /** Slots with their ids, of each key that was read in order: see {@link place}. */
  readonly ordered: Map<string, SortedIds>
}

/** A put whose body is text already: writing it cannot fail any more. */
export interface ReadyPut {
  readonly put: DocumentPut
  readonly json: string
}

/** Names of keys hold no U+0000, so nothing else makes the same slot. */
const slot = (key: string, value: string): string => `${key}\0${value}`

/** Position of a document under a key that is read in order. Neither values nor ids hold U+0000, which sorts first. */
const place = (value: string, id: string): string => `${value}\0${id}`

/** Documents of every collection. */
export class DocumentTable {
  readonly #collections = new Map<string, Collection>()

  version(collection: string, id: string): number {
    return this.#collections.get(collection)?.rows.get(id)?.version ?? 0
  }

  uniqueHolder(collection: string, key: string, value: string): string | null {
    return this.#collections.get(collection)?.unique.get(slot(key, value)) ?? null
  }

  get(collection: string, id: string): DocumentText | null {
    const row = this.#collections.get(collection)?.rows.get(id)
    return row === undefined ? null : { collection, id, version: row.version, body: row.json }
  }

  find(collection: string, key: string, value: string): ReadonlyArray<DocumentText> {
    const ids = this.#collections.get(collection)?.found.get(slot(key, value)) ?? []
    return [...ids].sort(compareText).map((id) => this.get(collection, id)!)
  }

  range(collection: string, key: string, range: KeyRange): ReadonlyArray<DocumentText> {
    const { after, before, limit, order } = range
    const there = this.#collections.get(collection)
    if (there === undefined) return []
    return this.#ordered(there, key)
      .between(
        // Behind all documents of the value, and before every longer value.
        after === undefined ? undefined : `${after}\u0001`,
        before === undefined ? undefined : place(before, ""),
        limit,
        order === "desc"
      )
      .map((one) => this.get(collection, one.slice(one.indexOf("\0") + 1))!)
  }

  /** Made when a key is read in order for the first time. */
  #ordered({ found, ordered }: Collection, key: string): SortedIds {
    const known = ordered.get(key)
    if (known !== undefined) return known
    const made = new SortedIds()
    for (const [at, ids] of found)
      if (at.startsWith(slot(key, ""))) for (const id of ids) made.add(place(at.slice(key.length + 1), id))
    ordered.set(key, made)
    return made
  }

  /** Ids of the documents with this look-up key, in order. */
  holders(collection: string, key: string, value: string): ReadonlyArray<string> {
    return [...(this.#collections.get(collection)?.found.get(slot(key, value)) ?? [])].sort(compareText)
  }

  list(collection: string, after?: string, limit?: number): ReadonlyArray<DocumentText> {
    const ids = this.#collections.get(collection)?.ids.page(after, limit) ?? []
    return ids.map((id) => this.get(collection, id)!)
  }

  /**
   * Writes all puts of one ChangeSet: first every old key goes, then every new one comes, so that values can change
   * hands.
   */
  write(puts: ReadonlyArray<ReadyPut>): void {
    for (const { put } of puts) this.#dropKeys(put)
    for (const { put, json } of puts) this.#write(put, json)
  }

  /** Takes out documents that are there, with their keys. */
  delete(documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>): void {
    for (const document of documents) {
      this.#dropKeys(document)
      const collection = this.#collection(document.collection)
      if (collection.rows.delete(document.id)) collection.ids.remove(document.id)
    }
  }

  #dropKeys(put: Pick<DocumentPut, "collection" | "id">): void {
    const collection = this.#collections.get(put.collection)
    const row = collection?.rows.get(put.id)
    if (collection === undefined || row === undefined) return
    for (const [key, value] of row.unique) collection.unique.delete(slot(key, value))
    for (const [key, value] of [...row.keys, ...row.unique]) {
      const ids = collection.found.get(slot(key, value))
      ids?.delete(put.id)
      collection.ordered.get(key)?.remove(place(value, put.id))
      if (ids?.size === 0) collection.found.delete(slot(key, value))
    }
  }

  #write(put: DocumentPut, json: string): void {
    const collection = this.#collection(put.collection)
    const keys = Object.entries(put.keys ?? {})
    const unique = Object.entries(put.unique ?? {})
    const version = collection.rows.get(put.id)?.version ?? 0
    if (version === 0) collection.ids.add(put.id)
    collection.rows.set(put.id, { version: version + 1, json, keys, unique })
    for (const [key, value] of unique) collection.unique.set(slot(key, value), put.id)
    for (const [key, value] of [...keys, ...unique]) {
      const ids = collection.found.get(slot(key, value))
      if (ids === undefined) collection.found.set(slot(key, value), new Set([put.id]))
      else ids.add(put.id)
      collection.ordered.get(key)?.add(place(value, put.id))
    }
  }

  #collection(name: string): Collection {
    const there = this.#collections.get(name)
    if (there !== undefined) return there
    const made: Collection = {
      rows: new Map(),
      ids: new SortedIds(),
      found: new Map(),
      unique: new Map(),
      ordered: new Map()
    }
    this.#collections.set(name, made)
    return made
  }
}
