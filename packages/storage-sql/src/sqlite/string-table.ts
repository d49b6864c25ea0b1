/** Interned texts: kinds, agents, scopes and names of parts are stored once and referred to by number. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { StoreDamaged } from "./sqlite-fault.ts"

/**
 * Words kept in memory on each side, numbers by text and texts by number. Past it that memory is emptied: the table is
 * still there.
 */
const cachedStrings = 50_000
/**
 * New texts that are worth one read of all of them, and how far apart they may lie: rows that are of no use, for each
 * that is.
 */
const fewTexts = 8
const sparse = 4

/**
 * The table `word` behind a cache. What adds to it is in `string-table-writer.ts`.
 *
 * A writer asks for numbers and a reader for texts, so what is found one way is not remembered for the other: new
 * agents come by the thousand, and the collector copies each that is kept.
 */
export class StringTable {
  readonly #ids = new Map<string, number>()
  readonly #texts = new Map<number, string>()
  readonly #selectId: StatementSync
  readonly #selectText: StatementSync
  readonly #selectTexts: StatementSync

  constructor(db: DatabaseSync) {
    this.#selectId = db.prepare("SELECT id FROM word WHERE text = ?")
    this.#selectText = db.prepare("SELECT text FROM word WHERE id = ?")
    // Two lists in place of a row for each: no word holds U+0000.
    this.#selectTexts = db.prepare(
      "SELECT group_concat(id), group_concat(text, char(0)) FROM word WHERE id BETWEEN ? AND ?"
    )
    this.#selectTexts.setReturnArrays(true)
  }

  /** The number of a text, null when it was never stored. */
  find(text: string): number | null {
    const cached = this.#ids.get(text)
    if (cached !== undefined) return cached
    const row = this.#selectId.get(text)
    if (row === undefined) return null
    return this.keep(row["id"] as number, text)
  }

  /** The number of a text that is remembered; undefined says nothing. */
  known(text: string): number | undefined {
    return this.#ids.get(text)
  }

  /** The text of a number that another row refers to. */
  text(id: number): string {
    const cached = this.#texts.get(id)
    if (cached !== undefined) return cached
    const row = this.#selectText.get(id)
    if (row === undefined) throw new StoreDamaged(`a row refers to word ${id}, which is not there`)
    const text = row["text"] as string
    this.#keepText(id, text)
    return text
  }

  /**
   * Reads the texts of these numbers ahead, where many are not remembered: those of agents that are new together lie
   * side by side.
   */
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
    const [numbers, joined] = this.#selectTexts.get(first, last) as unknown as readonly [
      numbers: string | null,
      joined: string | null
    ]
    if (numbers === null || joined === null) return
    const texts = joined.split("\0")
    const found = numbers.split(",")
    // Else it holds one that is none of ours, and each is searched by itself.
    if (texts.length === found.length) found.forEach((number, index) => this.#keepText(Number(number), texts[index]!))
  }

  /** Drops what a rolled-back transaction may have put into the cache. */
  forget(): void {
    this.#ids.clear()
    this.#texts.clear()
  }

  /** Remembers the number of a text that is in the table, and answers it. */
  keep(id: number, text: string): number {
    if (this.#ids.size >= cachedStrings) this.#ids.clear()
    this.#ids.set(text, id)
    return id
  }

  #keepText(id: number, text: string): void {
    if (this.#texts.size >= cachedStrings) this.#texts.clear()
    this.#texts.set(id, text)
  }
}
