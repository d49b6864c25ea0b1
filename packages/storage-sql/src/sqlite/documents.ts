/** State documents in the writer: expectations first, then puts. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Conflict } from "@flyball/core/storage"
import { anyVersion, type BatchedChange, type BatchedPut, type Name } from "./batch.ts"

/** How the texts of a batch are written down in rows and in conflicts. */
export interface Naming {
  /** Null while nothing refers to this text. A check must not store anything. */
  readonly find: (name: Name) => number | null
  /** Stores the text if it is new. */
  readonly intern: (name: Name) => number
  readonly text: (name: Name) => string
}

/** The tables `document` and `document_key`. */
export class Documents {
  readonly #version: StatementSync
  readonly #holder: StatementSync
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #dropKeys: StatementSync
  readonly #insertKey: StatementSync

  constructor(db: DatabaseSync) {
    this.#version = db.prepare("SELECT doc, version FROM document WHERE collection = ? AND id = ?")
    this.#holder = db.prepare(
      "SELECT d.id FROM document_key k JOIN document d ON d.doc = k.doc WHERE k.collection = ? AND k.name = ? AND k.value = ? AND k.single = 1"
    )
    this.#insert = db.prepare("INSERT INTO document (collection, id, version, body) VALUES (?, ?, 1, ?)")
    this.#update = db.prepare("UPDATE document SET version = ?, body = ? WHERE doc = ?")
    this.#dropKeys = db.prepare("DELETE FROM document_key WHERE doc = ?")
    this.#insertKey = db.prepare("INSERT INTO document_key (collection, name, value, doc, single) VALUES (?, ?, ?, ?, ?)")
  }

  /** Adds every version and unique value that is not as the ChangeSet expects. Reads only. */
  check(change: BatchedChange, naming: Naming, conflicts: Array<Conflict>): void {
    for (const { collection, id, version } of change.expects) this.#checkVersion(collection, id, version, naming, conflicts)
    for (const { collection, id, expectedVersion } of change.puts) if (expectedVersion !== anyVersion) this.#checkVersion(collection, id, expectedVersion, naming, conflicts)
    this.#checkUnique(change.puts, naming, conflicts)
  }

  #checkVersion(collection: Name, id: string, expected: number, naming: Naming, conflicts: Array<Conflict>): void {
    const found = (this.#version.get(naming.find(collection), id)?.["version"] as number | undefined) ?? 0
    if (found !== expected) conflicts.push({ _tag: "Version", collection: naming.text(collection), id, expected, found })
  }

  /** Judges unique values as all puts of the ChangeSet will leave them: a value that one put frees, another may take. */
  #checkUnique(puts: ReadonlyArray<BatchedPut>, naming: Naming, conflicts: Array<Conflict>): void {
    const put = new Set<string>()
    for (const { collection, id } of puts) put.add(`${collection}\0${id}`)
    const taken = new Map<string, string>()
    for (const { collection, id, keys } of puts) {
      for (const { name, value, single } of keys) {
        if (!single) continue
        const slot = `${collection}\0${name}\0${value}`
        const stored = this.#holder.get(naming.find(collection), naming.find(name), value)?.["id"] as string | undefined
        const holder = taken.get(slot) ?? (stored !== undefined && !put.has(`${collection}\0${stored}`) ? stored : undefined)
        if (holder === undefined) taken.set(slot, id)
        else conflicts.push({ _tag: "Unique", collection: naming.text(collection), key: naming.text(name), value, id: holder })
      }
    }
  }

  /** Writes the puts of a ChangeSet that {@link check} found nothing against. All old keys go before the first new one comes. */
  write(puts: ReadonlyArray<BatchedPut>, naming: Naming): void {
    const docs = puts.map(({ collection, id, expectedVersion, body }) => {
      const collectionId = naming.intern(collection)
      const found = expectedVersion === 0 ? undefined : this.#version.get(collectionId, id)
      if (found === undefined) return this.#insert.run(collectionId, id, body).lastInsertRowid
      const doc = found["doc"] as number
      this.#update.run((found["version"] as number) + 1, body, doc)
      this.#dropKeys.run(doc)
      return doc
    })
    puts.forEach(({ collection, keys }, index) => {
      for (const { name, value, single } of keys) this.#insertKey.run(naming.intern(collection), naming.intern(name), value, docs[index]!, single ? 1 : 0)
    })
  }
}
