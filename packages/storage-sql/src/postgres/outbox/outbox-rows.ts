/** Rows of the outbox as Postgres hands them out. */
import type { Delivery, StoredEvent } from "@flyball/core/storage"
import { deliveryColumnsOf } from "../../outbox-columns.ts"
import type { Row } from "../sessions.ts"

/** Where {@link deliveryColumns} are from: what is in flight says so in a table of its own. */
export const deliverySource =
  "flyball.deliveries d LEFT JOIN flyball.in_flight f ON f.endpoint_id = d.endpoint_id AND f.sequence = d.sequence"

/** The columns that {@link deliveryOf} reads, of {@link deliverySource}. */
export const deliveryColumns = `d.id, d.event_id, d.endpoint_id, d.sequence::float8 AS sequence,
  CASE WHEN f.attempt IS NULL THEN d.state ELSE 1 END::int4 AS state, coalesce(f.attempt, d.attempts) AS attempts,
  d.created_at_ms::float8 AS created_at_ms,
  CASE WHEN f.attempt IS NULL THEN d.next_at_ms END::float8 AS next_at_ms, f.lease_until_ms::float8 AS lease_until_ms,
  d.finished_at_ms::float8 AS finished_at_ms`

/** The delivery in a row. */
export const deliveryOf = (row: Row): Delivery => ({
  ...deliveryColumnsOf(row),
  endpointId: row["endpoint_id"] as string
})

/** The columns that {@link eventOf} reads, of `e`. */
export const eventColumns =
  "e.id AS event_id, e.type, e.owner, e.at_ms::float8 AS at_ms, e.seq::float8 AS seq, e.hash, e.data"

/** The event in a row. */
export const eventOf = (row: Row): StoredEvent => ({
  id: row["event_id"] as string,
  type: row["type"] as string,
  ...(row["owner"] === null ? {} : { owner: row["owner"] as string }),
  atMs: row["at_ms"] as number,
  seq: row["seq"] as number,
  hash: row["hash"] as Uint8Array,
  data: JSON.parse(row["data"] as string)
})

/**
 * The attempts of the delivery `d` with the columns that `attemptOf` reads: those that ended, and the one that is under
 * way.
 */
export const attemptsOfDelivery = `SELECT attempt, started_at_ms::float8 AS started_at_ms,
  ended_at_ms::float8 AS ended_at_ms, status_code, error_code, excerpt FROM flyball.attempts WHERE delivery_id = d.id
  UNION ALL SELECT attempt, started_at_ms::float8, NULL, NULL, NULL, '""' FROM flyball.in_flight
  WHERE endpoint_id = d.endpoint_id AND sequence = d.sequence`
