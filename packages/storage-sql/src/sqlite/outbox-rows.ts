/** Rows of the outbox as SQLite hands them out. */
import type { Attempt, Delivery, DeliveryState } from "@flyball/core/storage"
import type { EventRow } from "./protocol.ts"
import type { Words } from "./words.ts"

type Row = Record<string, unknown>

/** What the numbers in `delivery.state` mean. */
export const states: ReadonlyArray<DeliveryState> = ["pending", "in_flight", "succeeded", "failed", "cancelled"]

/** The columns that {@link deliveryOf} reads, of `delivery d` and `event e`. */
export const deliveryColumns = "d.id, e.id AS event_id, d.endpoint, d.sequence, d.state, d.attempts, d.created_at_ms, d.next_at_ms, d.lease_until_ms, d.finished_at_ms"

export const deliveryOf = (row: Row, words: Words): Delivery => ({
  id: row["id"] as string,
  eventId: row["event_id"] as string,
  endpointId: words.text(row["endpoint"] as number),
  sequence: row["sequence"] as number,
  state: states[row["state"] as number]!,
  attempts: row["attempts"] as number,
  createdAtMs: row["created_at_ms"] as number,
  nextAttemptAtMs: row["next_at_ms"] as number | null,
  leaseUntilMs: row["lease_until_ms"] as number | null,
  finishedAtMs: row["finished_at_ms"] as number | null
})

/** The columns that {@link eventOf} reads, of `event e`. */
export const eventColumns = "e.id AS event_id, e.type, e.at_ms, e.seq, e.hash, e.data"

export const eventOf = (row: Row, words: Words): EventRow => ({
  id: row["event_id"] as string,
  type: words.text(row["type"] as number),
  atMs: row["at_ms"] as number,
  seq: row["seq"] as number,
  hash: row["hash"] as Uint8Array,
  data: row["data"] as string
})

/** An excerpt is kept as JSON: it may hold what no text of a database can. */
export const attemptOf = (row: Row): Attempt => ({
  attempt: row["attempt"] as number,
  startedAtMs: row["started_at_ms"] as number,
  endedAtMs: row["ended_at_ms"] as number | null,
  statusCode: row["status_code"] as number | null,
  errorCode: row["error_code"] as Attempt["errorCode"],
  responseExcerpt: JSON.parse(row["excerpt"] as string) as string
})
