/** Writes a ChangeSet's events, deliveries and moves to the outbox. Claims are in `claims.ts`. */
import { hash } from "node:crypto"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { type OutboxDraft, type NewEvent, type OutboxView, owe, wanted } from "@flyball/core/thread"
import type { DeliveryMove, Head } from "@flyball/core/storage"
import { states } from "../../outbox-columns.ts"
import { BulkInsert } from "../bulk-insert.ts"
import type { StringTableWriter } from "../string-table-writer.ts"

const webhooks = "webhooks"

const sha256 = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer")

/** The tables `event`, `delivery`, `attempt` and `lane`, inside the writer's transaction. */
export class OutboxWriter {
  readonly #rows: ReturnType<typeof prepareRows>
  readonly #strings: StringTableWriter
  /** Events without a delivery. Others are inserted at once, because a delivery needs the event's number. */
  readonly #unowed: BulkInsert
  /** Endpoints that want events, by look-up key. The writer sees every change of a webhook. */
  readonly #wanting = new Map<string, ReadonlyArray<string>>()
  /** The last event's id; undefined until it was looked up. */
  #lastEventId: string | null | undefined = undefined

  constructor(db: DatabaseSync, strings: StringTableWriter) {
    this.#rows = prepareRows(db)
    this.#strings = strings
    this.#unowed = new BulkInsert(db, "event (id, type, at_ms, seq, hash, data, owner)", 7)
  }

  /** Empties the caches: a rollback may have undone writes, or events were deleted. */
  load(): void {
    this.#unowed.clear()
    this.#lastEventId = undefined
    this.#wanting.clear()
  }

  /** Inserts the rows that wait. */
  flush(): void {
    this.#unowed.flush()
  }

  /** A webhook's document was written. */
  webhooksChanged(): void {
    this.#wanting.clear()
  }

  /** The state of a delivery; null for one that does not exist. */
  delivery(id: string): ReturnType<OutboxView["delivery"]> {
    const row = this.#rows.standing.get(id)
    return row === undefined ? null : { state: states[row["state"] as number]!, attempts: row["attempts"] as number }
  }

  /** True when an event exists. Includes the rows that wait. */
  hasEvent(id: string): boolean {
    this.flush()
    return this.#rows.event.get(id) !== undefined
  }

  /**
   * Writes the outbox part of an admitted ChangeSet, after its puts. A `repeat` emits nothing. Returns whether an
   * unfinished delivery may exist.
   */
  write(draft: OutboxDraft, repeat: boolean, head: Head, atMs: number): boolean {
    for (const move of draft.moves) this.#move(move, atMs)
    for (const { endpointId, forgetAnswers } of draft.cancel) {
      const endpoint = this.#strings.find(endpointId)
      this.#rows.cancel.run(atMs, endpoint)
      if (forgetAnswers === true) this.#rows.forgetAnswers.run(endpoint)
    }
    const added = !repeat && draft.events.length + draft.again.length > 0 && this.#owe(draft, head, atMs)
    return added || draft.moves.length > 0
  }

  #move({ ended, id, to }: DeliveryMove, atMs: number): void {
    const next = to.state === "pending" ? to.nextAttemptAtMs : null
    const { attempts, n } = this.#rows.move.get(states.indexOf(to.state), next, next === null ? atMs : null, id) as {
      readonly n: number
      readonly attempts: number
    }
    if (ended !== undefined)
      this.#rows.end.run(
        ended.endedAtMs,
        ended.statusCode,
        ended.errorCode,
        JSON.stringify(ended.responseExcerpt),
        n,
        attempts
      )
  }

  #owe(draft: OutboxDraft, head: Head, atMs: number): boolean {
    const { deliveries, events, sequences } = owe(
      draft,
      {
        lastEventId:
          this.#lastEventId === undefined
            ? ((this.#rows.lastEvent.get()?.["id"] as string | undefined) ?? null)
            : this.#lastEventId,
        wanting: (key) => this.#whoWants(key),
        lastSequence: (endpointId) =>
          (this.#rows.sequence.get(this.#strings.find(endpointId))?.["sequence"] as number | undefined) ?? 0
      },
      atMs,
      sha256
    )
    this.#lastEventId = events.at(-1)?.id ?? this.#lastEventId
    const columns = ({ data, id, owner, type }: NewEvent) =>
      [
        id,
        this.#strings.intern(type),
        atMs,
        head.seq,
        head.hash,
        data,
        owner === undefined ? null : this.#strings.intern(owner)
      ] as const
    if (deliveries.length === 0) {
      for (const event of events) this.#unowed.add(...columns(event))
      return false
    }
    this.flush()
    const numbers = new Map<string, number>()
    for (const event of events)
      numbers.set(event.id, this.#rows.insertEvent.run(...columns(event)).lastInsertRowid as number)
    for (const { endpointId, eventId, id, sequence } of deliveries) {
      const event = numbers.get(eventId) ?? (this.#rows.event.get(eventId)!["n"] as number)
      this.#rows.insertDelivery.run(id, event, this.#strings.intern(endpointId), sequence, atMs, atMs)
    }
    for (const [endpointId, sequence] of sequences)
      this.#rows.setSequence.run(this.#strings.intern(endpointId), sequence)
    return true
  }

  #whoWants(key: string): ReadonlyArray<string> {
    let ids = this.#wanting.get(key)
    if (ids === undefined)
      this.#wanting.set(
        key,
        (ids = this.#rows.wanting
          .all(this.#strings.find(webhooks), this.#strings.find(key), wanted)
          .map((row) => row["id"] as string))
      )
    return ids
  }
}

const prepareRows = (db: DatabaseSync) => {
  const sql = (text: string): StatementSync => db.prepare(text)
  return {
    standing: sql("SELECT state, attempts FROM delivery WHERE id = ?"),
    event: sql("SELECT n FROM event WHERE id = ?"),
    lastEvent: sql("SELECT id FROM event ORDER BY id DESC LIMIT 1"),
    wanting: sql(
      "SELECT d.id FROM document_key k JOIN document d ON d.doc = k.doc WHERE k.collection = ? AND k.name = ? " +
        "AND k.value = ? ORDER BY d.id"
    ),
    sequence: sql("SELECT sequence FROM lane WHERE endpoint = ?"),
    move: sql(
      "UPDATE delivery SET state = ?, next_at_ms = ?, lease_until_ms = NULL, finished_at_ms = ? WHERE id = ? " +
        "RETURNING n, attempts"
    ),
    // `null` in an attempt that is under way: what is answered is not to be kept.
    forgetAnswers: sql(`UPDATE attempt SET excerpt = CASE WHEN ended_at_ms IS NULL THEN 'null' ELSE '""' END
      WHERE (ended_at_ms IS NULL OR excerpt <> '""') AND delivery IN (SELECT n FROM delivery WHERE endpoint = ?)`),
    end: sql(
      "UPDATE attempt SET ended_at_ms = ?, status_code = ?, error_code = ?, excerpt = CASE WHEN excerpt = " +
        "'null' THEN '\"\"' ELSE ? END WHERE delivery = ? AND attempt = ?"
    ),
    cancel: sql(
      "UPDATE delivery INDEXED BY delivery_pending SET state = 4, next_at_ms = NULL, finished_at_ms = ? WHERE " +
        "state = 0 AND endpoint = ?"
    ),
    insertEvent: sql("INSERT INTO event (id, type, at_ms, seq, hash, data, owner) VALUES (?, ?, ?, ?, ?, ?, ?)"),
    insertDelivery: sql(
      "INSERT INTO delivery (id, event, endpoint, sequence, state, attempts, created_at_ms, next_at_ms) VALUES " +
        "(?, ?, ?, ?, 0, 0, ?, ?)"
    ),
    setSequence: sql(
      "INSERT INTO lane (endpoint, sequence, turn) VALUES (?, ?, 0) ON CONFLICT (endpoint) DO UPDATE SET " +
        "sequence = excluded.sequence"
    )
  }
}
