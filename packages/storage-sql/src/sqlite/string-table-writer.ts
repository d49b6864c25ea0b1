/** The writer's end of the table `word`: what is new gets its number here. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { BulkInsert } from "./bulk-insert.ts"
import { LastIds } from "./last-ids.ts"
import { StringTable } from "./string-table.ts"

/** Ids of ours: behind their prefix they are in the order of time. */
const idForm = /^[a-z]{3}_[0-9a-z]{26}$/
const prefixLength = 4
/** Behind every character of an id. */
const END = "~"

/**
 * Adds to the table `word`. Only inside transactions, and while nobody else does: numbers continue behind the last that
 * was seen.
 *
 * An id that follows all of its prefix is new for certain: it waits, many for one call. Any other text is inserted at
 * once, and searched only where it existed.
 */
export class StringTableWriter {
  readonly #strings: StringTable
  readonly #insert: StatementSync
  readonly #last: StatementSync
  readonly #lastId: StatementSync
  readonly #inserts: BulkInsert
  readonly #waiting = new Map<string, number>()
  /** By prefix. */
  readonly #lastIds = new LastIds()
  /** The highest number of the table and of those that wait; null until it was looked up. */
  #lastNumber: number | null = null

  constructor(db: DatabaseSync) {
    this.#strings = new StringTable(db)
    this.#insert = db.prepare("INSERT INTO word (id, text) VALUES (?, ?) ON CONFLICT (text) DO NOTHING")
    this.#last = db.prepare("SELECT max(id) AS id FROM word")
    this.#lastId = db.prepare("SELECT max(text) AS text FROM word WHERE text > ? AND text < ?")
    this.#inserts = new BulkInsert(db, "word (id, text)", 2)
  }

  /** The number of a text, null when it was never stored. */
  find(text: string): number | null {
    return this.#waiting.get(text) ?? this.#strings.find(text)
  }

  /** The number of a text, which is stored if it is new. */
  intern(text: string): number {
    return (
      this.#strings.known(text) ??
      this.#waiting.get(text) ??
      (this.#isNewId(text) ? this.#wait(text) : this.#store(text))
    )
  }

  /** The text of a number that another row refers to. */
  text(id: number): string {
    return this.#strings.text(id)
  }

  /** Puts what waits into the table. */
  flush(): void {
    if (this.#waiting.size === 0) return
    this.#inserts.flush()
    this.#settle()
  }

  /** Drops what a rolled-back transaction may have left here. */
  forget(): void {
    this.#inserts.clear()
    this.#waiting.clear()
    this.#lastIds.forget()
    this.#lastNumber = null
    this.#strings.forget()
  }

  /** True for an id that the table cannot have. */
  #isNewId(text: string): boolean {
    if (!idForm.test(text)) return false
    const prefix = prefixOf(text)
    return this.#lastIds.isBehindAll(
      prefix,
      text,
      () => this.#lastId.get(prefix, prefix + END)!["text"] as string | null
    )
  }

  #wait(text: string): number {
    const id = this.#next()
    this.#lastNumber = id
    this.#waiting.set(text, id)
    this.#lastIds.wait(prefixOf(text), text)
    if (this.#inserts.add(id, text)) this.#settle()
    return id
  }

  #store(text: string): number {
    const id = this.#next()
    if (this.#insert.run(id, text).changes === 0) return this.#strings.find(text)!
    this.#lastNumber = id
    return this.#strings.keep(id, text)
  }

  #next(): number {
    return (this.#lastNumber ??= (this.#last.get()!["id"] as number | null) ?? 0) + 1
  }

  /** Marks the waiting strings as written to the table. */
  #settle(): void {
    for (const [text, id] of this.#waiting) this.#strings.keep(id, text)
    this.#lastIds.settle()
    this.#waiting.clear()
  }
}

const prefixOf = (id: string): string => id.slice(0, prefixLength)
