/** Rows that are gathered and inserted many at a time: a call of a statement costs about as much as the row itself. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

/** Rows of one call. Past it little is gained, and a record's bytes must stay where they are until its call. */
export const bulkRows = 20

/** Inserts into one table. Nothing is in the table before {@link BulkInsert.flush}, or before the row that fills a call. */
export class BulkInsert {
  readonly #columns: number
  readonly #many: StatementSync
  readonly #one: StatementSync
  #values: Array<SQLInputValue> = []

  /** `into` is the table and its columns, `conflict` what follows the values. */
  constructor(db: DatabaseSync, into: string, columns: number, conflict = "") {
    const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`
    this.#columns = columns
    this.#many = db.prepare(`INSERT INTO ${into} VALUES ${Array.from({ length: bulkRows }, () => row).join(", ")}${conflict}`)
    this.#one = db.prepare(`INSERT INTO ${into} VALUES ${row}${conflict}`)
  }

  /** Adds a row. True when that filled a call, so that no row waits any more. */
  add(...row: ReadonlyArray<SQLInputValue>): boolean {
    for (const value of row) this.#values.push(value)
    if (this.#values.length < bulkRows * this.#columns) return false
    this.flush()
    return true
  }

  /** Inserts what waits and answers how many rows that made. */
  flush(): number {
    const values = this.#values
    this.#values = []
    if (values.length === bulkRows * this.#columns) return this.#many.run(...values).changes as number
    let changes = 0
    for (let at = 0; at < values.length; at += this.#columns) changes += this.#one.run(...values.slice(at, at + this.#columns)).changes as number
    return changes
  }

  /** Drops what waits: its transaction was rolled back. */
  clear(): void {
    this.#values = []
  }
}
