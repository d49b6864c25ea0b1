/** A SQLite store that is written once, whole. */
import { DatabaseSync } from "node:sqlite"
import { migrate } from "../sqlite/migrate.ts"
import { syncPath } from "../sqlite/durable-file.ts"
import type { Page } from "./rows.ts"
import { SqliteTarget } from "./sqlite-target.ts"

/**
 * A new file, under a name that nothing has, with this version's schema. What is in it counts only after {@link
 * finish}.
 *
 * No journal and no waiting for the disk: a copy that was not finished is thrown away, and a finished one is synced as
 * a whole.
 */
export class NewSqliteFile {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #target: SqliteTarget

  constructor(file: string) {
    this.#file = file
    this.#db = new DatabaseSync(file)
    try {
      migrate(this.#db)
      this.#db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; BEGIN")
      this.#target = new SqliteTarget(this.#db)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  write(page: Page): void {
    this.#target.write(page)
  }

  /** The file is closed and durable. */
  finish(): void {
    this.#target.finish()
    this.#db.exec("COMMIT; PRAGMA journal_mode = DELETE")
    this.#db.close()
    syncPath(this.#file)
  }

  /** Lets go of the file, if it is still open. */
  abandon(): void {
    if (this.#db.isOpen) this.#db.close()
  }
}
