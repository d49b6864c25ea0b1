/** State documents in the writer: expectations first, then puts. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Conflict } from "@flyball/core/storage"
import { anyVersion, type BatchedChange, type BatchedPut, type Name } from "./batch.ts"
import { BulkInsert } from "./bulk-insert.ts"
import { LastIds } from "./last-ids.ts"
import { UniqueValues } from "./unique-values.ts"

/** How the texts of a batch are written down in rows and in conflicts. */
export interface Naming {
  /** Null while nothing refers to this text. A check must not store anything. */
  readonly find: (name: Name) => number | null
  /** Stores the text if it is new. */
  readonly intern: (name: Name) => number
  readonly text: (name: Name) => string
}

/**
 * The tables `document` and `document_key`.
 *
 * What is new waits, many rows for one call; the checks know what waits, and a change of a document that is there lets
 * all that waits go before it.
 */
export class Documents {
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
  /** The number of the last document; nobody else adds one. */
  #lastDoc = 0

  constructor(db: DatabaseSync) {
    this.#version = db.prepare("SELECT doc, version FROM document WHERE collection = ? AND id = ?")
    this.#update = db.prepare("UPDATE document SET version = ?, body = ? WHERE doc = ?")
    this.#dropKeys = db.prepare("DELETE FROM document_key WHERE doc = ?")
    this.#delete = db.prepare("DELETE FROM document WHERE doc = ?")
    this.#last = db.prepare("SELECT max(doc) AS doc FROM document")
    this.#lastId = db.prepare("SELECT max(id) AS id FROM document WHERE collection = ?")
    this.#unique = new UniqueValues(db)
    this.#inserts = new BulkInsert(db, "document (doc, collection, id, version, body)", 5)
    this.#keys = new BulkInsert(db, "document_key (collection, name, value, doc, single)", 5)
  }

  /** Reads where the table ends, at the start and after every rollback; what waited is dropped. */
  load(): void {
    this.#inserts.clear()
    this.#keys.clear()
    this.#waiting.clear()
    this.#unique.settle()
    this.#lastIds.forget()
    this.#lastDoc = (this.#last.get()!["doc"] as number | null) ?? 0
  }

  /** Puts what waits into its tables. */
  flush(): void {
    this.#inserts.flush()
    this.#keys.flush()
    this.#waiting.clear()
    this.#unique.settle()
    this.#lastIds.settle()
  }

  /** Adds every version and unique value that is not as the ChangeSet expects. Reads only. */
  check(change: BatchedChange, naming: Naming, conflicts: Array<Conflict>): void {
    for (const { collection, id, version } of change.expects)
      this.#checkVersion(collection, id, version, naming, conflicts)
    for (const { collection, id, expectedVersion } of change.puts)
      if (expectedVersion !== anyVersion) this.#checkVersion(collection, id, expectedVersion, naming, conflicts)
    for (const { collection, id, version } of change.deletes)
      this.#checkVersion(collection, id, version, naming, conflicts)
    this.#unique.check(change.puts, naming, conflicts)
  }

  #checkVersion(collection: Name, id: string, expected: number, naming: Naming, conflicts: Array<Conflict>): void {
    const text = naming.text(collection)
    const found = this.#waiting.has(`${text}\0${id}`)
      ? 1
      : expected === 0 && this.#isBehindAll(text, id, naming.find(collection))
        ? 0
        : ((this.#version.get(naming.find(collection), id)?.["version"] as number | undefined) ?? 0)
    if (found !== expected) conflicts.push({ _tag: "Version", collection: text, id, expected, found })
  }

  #isBehindAll(text: string, id: string, collection: number | null): boolean {
    return this.#lastIds.isBehindAll(text, id, () => this.#lastId.get(collection)?.["id"] as string | null)
  }

  /**
   * Writes the puts of a ChangeSet that {@link check} found nothing against, or lets them wait. All old keys go before
   * the first new one comes.
   */
  write(puts: ReadonlyArray<BatchedPut>, naming: Naming): void {
    if (puts.some(({ expectedVersion }) => expectedVersion !== 0)) this.flush()
    const docs = puts.map(({ collection, id, expectedVersion, body }) => {
      const collectionId = naming.intern(collection)
      const found = expectedVersion === 0 ? undefined : this.#version.get(collectionId, id)
      if (found === undefined) {
        this.#inserts.add(++this.#lastDoc, collectionId, id, 1, body)
        const text = naming.text(collection)
        this.#waiting.add(`${text}\0${id}`)
        this.#lastIds.wait(text, id)
        return this.#lastDoc
      }
      const doc = found["doc"] as number
      this.#update.run((found["version"] as number) + 1, body, doc)
      this.#dropKeys.run(doc)
      return doc
    })
    puts.forEach(({ collection, id, keys }, index) => {
      for (const { name, value, single } of keys) {
        this.#keys.add(naming.intern(collection), naming.intern(name), value, docs[index]!, single ? 1 : 0)
        if (single) this.#unique.wait(naming, { collection, name, value }, id)
      }
    })
  }

  /** Takes out documents that {@link check} found at their version, with their keys. */
  delete(documents: BatchedChange["deletes"], naming: Naming): void {
    if (documents.length > 0) this.flush()
    for (const { collection, id } of documents) {
      const doc = this.#version.get(naming.find(collection), id)!["doc"] as number
      this.#dropKeys.run(doc)
      this.#delete.run(doc)
    }
  }
}
