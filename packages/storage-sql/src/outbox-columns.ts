/** Reads rows of the outbox into the types of the port, for both databases. */
import type { Attempt, Delivery, DeliveryState } from "@flyball/core/storage"

/** A row by the names of its columns. */
export type OutboxRow = { readonly [column: string]: unknown }

/** Delivery states, by their number in the column `state`. */
export const states: ReadonlyArray<DeliveryState> = ["pending", "in_flight", "succeeded", "failed", "cancelled"]

/** A delivery out of the columns that both databases call the same. */
export const deliveryColumnsOf = (row: OutboxRow): Omit<Delivery, "endpointId"> => ({
  id: row["id"] as string,
  eventId: row["event_id"] as string,
  sequence: row["sequence"] as number,
  state: states[row["state"] as number]!,
  attempts: row["attempts"] as number,
  createdAtMs: row["created_at_ms"] as number,
  nextAttemptAtMs: row["next_at_ms"] as number | null,
  leaseUntilMs: row["lease_until_ms"] as number | null,
  finishedAtMs: row["finished_at_ms"] as number | null
})

/**
 * An attempt. Its excerpt is kept as JSON: it may hold what no text of a database can. `null` in one that is under way:
 * what is answered is not to be kept.
 */
export const attemptOf = (row: OutboxRow): Attempt => ({
  attempt: row["attempt"] as number,
  startedAtMs: row["started_at_ms"] as number,
  endedAtMs: row["ended_at_ms"] as number | null,
  statusCode: row["status_code"] as number | null,
  errorCode: row["error_code"] as Attempt["errorCode"],
  responseExcerpt: (JSON.parse(row["excerpt"] as string) as string | null) ?? ""
})
