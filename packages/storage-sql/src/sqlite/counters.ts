/** Counters in the writer. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { CountAdd } from "@flyball/core/storage"

/** The table `counter`. */
export class Counters {
  readonly #find: StatementSync
  readonly #add: StatementSync

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(counterValue)
    this.#add = db.prepare(
      "INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"
    )
  }

  /** The value, with what this transaction added. */
  value(name: string): number {
    return (this.#find.get(name)?.["value"] as number | undefined) ?? 0
  }

  add(counts: ReadonlyArray<CountAdd>): void {
    for (const { add, name } of counts) this.#add.run(name, add)
  }
}

/** Reads one counter. */
export const counterValue = "SELECT value FROM counter WHERE name = ?"
