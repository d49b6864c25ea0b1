/** Reads of the outbox in a SQLite store. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { firstEventId } from "@flyball/core/thread"
import type { Attempt, Delivery, MissedQuery, OwnedQuery } from "@flyball/core/storage"
import { attemptOf } from "../../outbox-columns.ts"
import { deliveryColumns, deliveryOf, eventColumns, eventOf } from "./outbox-rows.ts"
import type { AnswerTo, EventQuery, EventRow } from "../thread/protocol.ts"
import { StringTable } from "../string-table.ts"

/** Reads one open database. */
export class OutboxReader {
  readonly #strings: StringTable
  readonly #statements = new Map<string, StatementSync>()
  readonly #db: DatabaseSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#strings = new StringTable(db)
  }

  #sql(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (statement === undefined) this.#statements.set(text, (statement = this.#db.prepare(text)))
    return statement
  }

  delivery(id: string): { readonly delivery: Delivery; readonly attempts: ReadonlyArray<Attempt> } | null {
    const row = this.#sql(
      `SELECT d.n, ${deliveryColumns} FROM delivery d JOIN event e ON e.n = d.event WHERE d.id = ?`
    ).get(id)
    if (row === undefined) return null
    const attempts = this.#sql(
      "SELECT attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt FROM attempt WHERE " +
        "delivery = ? ORDER BY attempt"
    ).all(row["n"] as number)
    // An attempt that began between the two reads is left out: the delivery above does not count it.
    return {
      delivery: deliveryOf(row, this.#strings),
      attempts: attempts.map(attemptOf).filter(({ attempt }) => attempt <= (row["attempts"] as number))
    }
  }

  deliveriesOf(endpointId: string, before: number, limit: number): ReadonlyArray<Delivery> {
    return this.#sql(
      `SELECT ${deliveryColumns} FROM delivery d JOIN event e ON e.n = d.event WHERE d.endpoint = ? AND ` +
        "d.sequence < ? ORDER BY d.sequence DESC LIMIT ?"
    )
      .all(this.#strings.find(endpointId), before, limit)
      .map((row) => deliveryOf(row, this.#strings))
  }

  event(id: string): EventRow | null {
    const row = this.#sql(`SELECT ${eventColumns} FROM event e WHERE e.id = ?`).get(id)
    return row === undefined ? null : eventOf(row, this.#strings)
  }

  events({ after, limit, sinceMs, types }: EventQuery): ReadonlyArray<EventRow> {
    const wanted = types?.flatMap((type) => this.#strings.find(type) ?? [])
    if (wanted?.length === 0) return []
    const ofTypes = wanted === undefined ? "" : `AND e.type IN (${wanted.map(() => "?").join(", ")})`
    const first = sinceMs === null ? "" : firstEventId(sinceMs)
    return this.#sql(
      `SELECT ${eventColumns} FROM event e WHERE e.id > ? AND e.id >= ? AND e.at_ms >= ? ${ofTypes} ORDER BY ` +
        "e.id LIMIT ?"
    )
      .all(after, first, sinceMs ?? 0, ...(wanted ?? []), limit)
      .map((row) => eventOf(row, this.#strings))
  }

  owned({ after = "", before = "~", limit, owner, types }: OwnedQuery): ReadonlyArray<EventRow> {
    const wanted = types.flatMap((type) => this.#strings.find(type) ?? [])
    if (wanted.length === 0) return []
    return this.#sql(
      `SELECT ${eventColumns} FROM event e INDEXED BY event_owner WHERE e.owner = ? AND e.id > ? AND e.id < ? AND ` +
        `e.type IN (${wanted.map(() => "?").join(", ")}) ORDER BY e.id DESC LIMIT ?`
    )
      .all(this.#strings.find(owner), after, before, ...wanted, limit)
      .map((row) => eventOf(row, this.#strings))
  }

  /**
   * In two statements: what is owed meanwhile is seen by the second at the latest, and the answer holds an event of the
   * first only where no delivery exists.
   */
  missed({ after = "", endpointId, limit, owner, sinceMs, types }: MissedQuery): AnswerTo<"missed"> {
    const page = this.events({ after, sinceMs, types, limit })
    const delivered = this.#sql(
      "SELECT 1 FROM delivery d WHERE d.event = (SELECT n FROM event WHERE id = ?) AND d.endpoint = ? AND " +
        "d.state <= 2 LIMIT 1"
    )
    const endpoint = this.#strings.find(endpointId)
    return {
      events: page.filter(
        (event) => (event.owner ?? null) === owner && delivered.get(event.id, endpoint) === undefined
      ),
      next: page.length < limit ? null : page.at(-1)!.id
    }
  }
}
