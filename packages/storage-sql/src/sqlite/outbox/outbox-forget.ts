/** Forgetting in the writer: what is over is deleted, a few hundred rows at a time. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { firstDeliveryId, firstEventId } from "@flyball/core/thread"
import type { ForgetAnswer, ForgetRequest } from "@flyball/core/storage"

/** Forgets in one open database. Nobody else writes it, so that what is read before a transaction still holds in it. */
export class OutboxForget {
  readonly #db: DatabaseSync
  readonly #rows: ReturnType<typeof prepareRows>

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#rows = prepareRows(db)
  }

  /** Deletes and makes that durable. One that finds nothing writes nothing. */
  forget({ after = "", beforeMs, limit, what }: ForgetRequest): ForgetAnswer {
    const page =
      what === "deliveries"
        ? this.#rows.deliveries.all(beforeMs, after, firstDeliveryId(beforeMs), limit)
        : this.#rows.events.all(beforeMs, after, firstEventId(beforeMs), limit)
    const over = page.filter((row) => row["over"] === 1).map((row) => row["n"] as number)
    if (over.length > 0) this.#delete(what, over)
    return { count: over.length, next: page.length < limit ? null : (page.at(-1)!["id"] as string) }
  }

  #delete(what: ForgetRequest["what"], numbers: ReadonlyArray<number>): void {
    try {
      this.#rows.begin.run()
      for (const n of numbers) {
        if (what === "deliveries") this.#rows.deleteAttempts.run(n)
        const row = what === "deliveries" ? this.#rows.deleteDelivery : this.#rows.deleteEvent
        row.run(n)
      }
      this.#rows.commit.run()
    } catch (error) {
      try {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      } catch (second) {
        // The connection is of no use any more; the worker ends, and the next call starts another.
        throw new AggregateError([error, second], "The store could not roll back after a failure.", { cause: second })
      }
      throw error
    }
  }
}

const prepareRows = (db: DatabaseSync) => {
  const sql = (text: string): StatementSync => db.prepare(text)
  return {
    begin: sql("BEGIN IMMEDIATE"),
    commit: sql("COMMIT"),
    deliveries: sql(
      "SELECT n, id, state >= 2 AND finished_at_ms < ? AS over FROM delivery WHERE id > ? AND id < ? ORDER BY " +
        "id LIMIT ?"
    ),
    events: sql(`SELECT e.n, e.id, e.at_ms < ? AND e.id < (SELECT max(id) FROM event) AND NOT EXISTS (SELECT 1
        FROM delivery d WHERE d.event = e.n) AS over
      FROM event e WHERE e.id > ? AND e.id < ? ORDER BY e.id LIMIT ?`),
    deleteAttempts: sql("DELETE FROM attempt WHERE delivery = ?"),
    deleteDelivery: sql("DELETE FROM delivery WHERE n = ?"),
    deleteEvent: sql("DELETE FROM event WHERE n = ?")
  }
}
