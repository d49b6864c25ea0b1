/** Unique look-up keys in the writer: which document holds a value. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { StringTableWriter } from "./string-table-writer.ts"

/** The unique values of the table `document_key`, and of the rows that wait to go there. */
export class UniqueValues {
  readonly #strings: StringTableWriter
  readonly #holder: StatementSync
  /** The holder of a value that waits. */
  readonly #waiting = new Map<string, string>()

  constructor(db: DatabaseSync, strings: StringTableWriter) {
    this.#strings = strings
    this.#holder = db.prepare(
      "SELECT d.id FROM document_key k JOIN document d ON d.doc = k.doc WHERE k.collection = ? AND k.name = ? " +
        "AND k.value = ? AND k.single = 1"
    )
  }

  /** The rows that waited are inserted or dropped. */
  settle(): void {
    this.#waiting.clear()
  }

  /** A document takes a value; its row waits. */
  wait(collection: string, key: string, value: string, id: string): void {
    this.#waiting.set(slotOf(collection, key, value), id)
  }

  /** The id of the document that holds a value. */
  holder(collection: string, key: string, value: string): string | null {
    return (
      this.#waiting.get(slotOf(collection, key, value)) ??
      (this.#holder.get(this.#strings.find(collection), this.#strings.find(key), value)?.["id"] as
        | string
        | undefined) ??
      null
    )
  }
}

const slotOf = (collection: string, key: string, value: string): string => `${collection}\0${key}\0${value}`
