/** Inserts many rows per statement, because a statement costs about as much as the row itself. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

/** Rows of one statement. More gains little, and a record's bytes must stay in memory until then. */
const bulkRows = 20
/** Rows of the statements that insert the rest, largest first. */
const restRows = [8, 4, 2, 1]

/**
 * Inserts into one table. Rows are in the table after {@link BulkInsert.flush}, or after the row that fills a
 * statement.
 *
 * Roll the whole transaction back if a row is refused: `OR FAIL` keeps the earlier rows of the statement. To undo them,
 * SQLite would copy each page before the statement changes it.
 */
export class BulkInsert {
  readonly #columns: number
  readonly #statements: ReadonlyArray<readonly [rows: number, statement: StatementSync]>
  /**
   * Room for the rows of one statement. The first {@link BulkInsert.#used} values wait. The array has its full length
   * from the start: V8 changes the element kind of one that grows.
   */
  readonly #values: Array<SQLInputValue>
  #used = 0

  /** `into` is the table and its columns. */
  constructor(db: DatabaseSync, into: string, columns: number) {
    const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`
    this.#columns = columns
    this.#values = Array.from({ length: bulkRows * columns }, () => null)
    this.#statements = [bulkRows, ...restRows].map((rows) => [
      rows,
      db.prepare(`INSERT OR FAIL INTO ${into} VALUES ${Array.from({ length: rows }, () => row).join(", ")}`)
    ])
  }

  /** Adds a row. True when that filled a call, so that no row waits any more. */
  add(...row: ReadonlyArray<SQLInputValue>): boolean {
    if (row.length !== this.#columns)
      throw new RangeError(`A row of ${this.#columns} columns was expected, and has ${row.length}.`)
    for (let column = 0; column < this.#columns; column++) this.#values[this.#used + column] = row[column]!
    this.#used += this.#columns
    if (this.#used < this.#values.length) return false
    this.flush()
    return true
  }

  /** Inserts what waits and answers how many rows that made. */
  flush(): number {
    if (this.#used === 0) return 0
    let changes = 0
    let at = 0
    try {
      for (const [rows, statement] of this.#statements) {
        const length = rows * this.#columns
        for (; this.#used - at >= length; at += length) {
          changes += statement.run(...(rows === bulkRows ? this.#values : this.#values.slice(at, at + length)))
            .changes as number
        }
      }
    } finally {
      this.clear()
    }
    return changes
  }

  /** Drops what waits: it is in the table, or its transaction was rolled back. */
  clear(): void {
    this.#values.fill(null, 0, this.#used)
    this.#used = 0
  }
}
