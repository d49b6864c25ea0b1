/** State documents in the writer. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { ChangeSet } from "@flyball/core/storage"
import { BulkInsert } from "./bulk-insert.ts"
import { LastIds } from "./last-ids.ts"
import type { PreparedPut } from "./prepared-change.ts"
import type { StringTableWriter } from "./string-table-writer.ts"
import { UniqueValues } from "./unique-values.ts"

/**
 * The tables `document` and `document_key`.
 *
 * New rows wait, so that one call inserts many. Look-ups include the rows that wait. A change of an existing document
 * first inserts them.
 */
export class Documents {
  readonly #strings: StringTableWriter
  readonly #version: StatementSync
  readonly #update: StatementSync
  readonly #dropKeys: StatementSync
  readonly #delete: StatementSync
  readonly #last: StatementSync
  readonly #lastId: StatementSync
  readonly #unique: UniqueValues
  readonly #inserts: BulkInsert
  readonly #keys: BulkInsert
  /** Documents that wait, by collection and id. */
  readonly #waiting = new Set<string>()
  /** By collection. */
  readonly #lastIds = new LastIds()
  /** The number of the last document. Only this writer adds documents. */
  #lastDoc = 0

  constructor(db: DatabaseSync, strings: StringTableWriter) {
    this.#strings = strings
    this.#version = db.prepare("SELECT doc, version FROM document WHERE collection = ? AND id = ?")
    this.#update = db.prepare("UPDATE document SET version = ?, body = ? WHERE doc = ?")
    this.#dropKeys = db.prepare("DELETE FROM document_key WHERE doc = ?")
    this.#delete = db.prepare("DELETE FROM document WHERE doc = ?")
    this.#last = db.prepare("SELECT max(doc) AS doc FROM document")
    this.#lastId = db.prepare("SELECT max(id) AS id FROM document WHERE collection = ?")
    this.#unique = new UniqueValues(db, strings)
    this.#inserts = new BulkInsert(db, "document (doc, collection, id, version, body)", 5)
    this.#keys = new BulkInsert(db, "document_key (collection, name, value, doc, single)", 5)
  }

  /** Reads the last number, at the start and after every rollback. Drops the rows that wait. */
  load(): void {
    this.#inserts.clear()
    this.#keys.clear()
    this.#waiting.clear()
    this.#unique.settle()
    this.#lastIds.forget()
    this.#lastDoc = (this.#last.get()!["doc"] as number | null) ?? 0
  }

  /** Inserts the rows that wait. */
  flush(): void {
    this.#inserts.flush()
    this.#keys.flush()
    this.#waiting.clear()
    this.#unique.settle()
    this.#lastIds.settle()
  }

  /** The version of a document; 0 for one that does not exist. Includes the rows that wait. */
  version(collection: string, id: string): number {
    if (this.#waiting.has(`${collection}\0${id}`)) return 1
    const number = this.#strings.find(collection)
    if (this.#isBehindAll(collection, id, number)) return 0
    return (this.#version.get(number, id)?.["version"] as number | undefined) ?? 0
  }

  /** The id of the document that holds a unique value. Includes the rows that wait. */
  uniqueHolder(collection: string, key: string, value: string): string | null {
    return this.#unique.holder(collection, key, value)
  }

  #isBehindAll(text: string, id: string, collection: number | null): boolean {
    return this.#lastIds.isBehindAll(text, id, () => this.#lastId.get(collection)?.["id"] as string | null)
  }

  /**
   * Writes the puts of an admitted ChangeSet, or lets them wait. All old keys are deleted before the first new one is
   * added.
   */
  write(puts: ReadonlyArray<PreparedPut>): void {
    if (puts.some(({ expectedVersion }) => expectedVersion !== 0)) this.flush()
    const docs = puts.map(({ collection, id, expectedVersion, body }) => {
      const collectionId = this.#strings.intern(collection)
      const found = expectedVersion === 0 ? undefined : this.#version.get(collectionId, id)
      if (found === undefined) {
        this.#inserts.add(++this.#lastDoc, collectionId, id, 1, body)
        this.#waiting.add(`${collection}\0${id}`)
        this.#lastIds.wait(collection, id)
        return this.#lastDoc
      }
      const doc = found["doc"] as number
      this.#update.run((found["version"] as number) + 1, body, doc)
      this.#dropKeys.run(doc)
      return doc
    })
    puts.forEach(({ collection, id, keys = {}, unique = {} }, index) => {
      const add = (name: string, value: string, single: 0 | 1): void =>
        void this.#keys.add(this.#strings.intern(collection), this.#strings.intern(name), value, docs[index]!, single)
      for (const name of Object.keys(keys)) add(name, keys[name]!, 0)
      for (const name of Object.keys(unique)) {
        add(name, unique[name]!, 1)
        this.#unique.wait(collection, name, unique[name]!, id)
      }
    })
  }

  /** Deletes documents of an admitted ChangeSet, with their keys. */
  delete(documents: NonNullable<ChangeSet["deletes"]>): void {
    if (documents.length > 0) this.flush()
    for (const { collection, id } of documents) {
      const doc = this.#version.get(this.#strings.find(collection), id)!["doc"] as number
      this.#dropKeys.run(doc)
      this.#delete.run(doc)
    }
  }
}
