/** Interned texts: kinds, agents, scopes and names of parts are stored once and referred to by number. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { StoreDamaged } from "./sqlite-fault.ts"

/** Texts kept in memory on each side. Past it the memory is emptied: the table is still there. */
const cachedWords = 50_000
/** New texts that are worth one look at all of them, and how far apart they may lie: rows that are of no use, for each that is. */
const fewTexts = 8
const sparse = 4

/** The table `word` behind a cache. */
export class Words {
  readonly #ids = new Map<string, number>()
  readonly #texts = new Map<number, string>()
  readonly #selectId: StatementSync
  readonly #selectText: StatementSync
  readonly #selectTexts: StatementSync
  readonly #insert: StatementSync

  constructor(db: DatabaseSync) {
    this.#selectId = db.prepare("SELECT id FROM word WHERE text = ?")
    this.#selectText = db.prepare("SELECT text FROM word WHERE id = ?")
    this.#selectTexts = db.prepare("SELECT id, text FROM word WHERE id BETWEEN ? AND ?")
    this.#insert = db.prepare("INSERT INTO word (text) VALUES (?) ON CONFLICT DO NOTHING")
  }

  /** The number of a text, null when it was never stored. */
  find(text: string): number | null {
    const cached = this.#ids.get(text)
    if (cached !== undefined) return cached
    const row = this.#selectId.get(text)
    if (row === undefined) return null
    return this.#keep(row["id"] as number, text)
  }

  /**
   * The number of a text, which is stored if it is new. Only inside a transaction.
   *
   * It inserts first and looks only where the text was there already: a text that is not remembered is nearly always a new agent's id.
   */
  intern(text: string): number {
    const cached = this.#ids.get(text)
    if (cached !== undefined) return cached
    const { changes, lastInsertRowid } = this.#insert.run(text)
    return changes === 0 ? this.find(text)! : this.#keep(lastInsertRowid as number, text)
  }

  /** The text of a number that another row refers to. */
  text(id: number): string {
    const cached = this.#texts.get(id)
    if (cached !== undefined) return cached
    const row = this.#selectText.get(id)
    if (row === undefined) throw new StoreDamaged(`a row refers to word ${id}, which is not there`)
    const text = row["text"] as string
    this.#keep(id, text)
    return text
  }

  /** Reads the texts of these numbers ahead, where many are not remembered: those of agents that are new together lie side by side. */
  learn(ids: ReadonlyArray<number>): void {
    let first = Infinity
    let last = 0
    let unknown = 0
    for (const id of ids) {
      if (id === 0 || this.#texts.has(id)) continue
      unknown++
      first = Math.min(first, id)
      last = Math.max(last, id)
    }
    if (unknown < fewTexts || last - first > sparse * unknown) return
    for (const row of this.#selectTexts.all(first, last)) this.#keep(row["id"] as number, row["text"] as string)
  }

  /** Drops what a rolled-back transaction may have put into the cache. */
  forget(): void {
    this.#ids.clear()
    this.#texts.clear()
  }

  #keep(id: number, text: string): number {
    if (this.#ids.size >= cachedWords || this.#texts.size >= cachedWords) this.forget()
    this.#ids.set(text, id)
    this.#texts.set(id, text)
    return id
  }
}
