/** Rows of the outbox as Postgres hands them out. */
import type { Delivery, StoredEvent } from "@flyball/core/storage"
import { deliveryColumnsOf } from "../outbox-columns.ts"
import type { Row } from "./sessions.ts"

/** The columns that {@link deliveryOf} reads, of `d`. */
export const deliveryColumns = `d.id, d.event_id, d.endpoint_id, d.sequence::float8 AS sequence, d.state::int4 AS state, d.attempts, d.created_at_ms::float8 AS created_at_ms,
  d.next_at_ms::float8 AS next_at_ms, d.lease_until_ms::float8 AS lease_until_ms, d.finished_at_ms::float8 AS finished_at_ms`

export const deliveryOf = (row: Row): Delivery => ({ ...deliveryColumnsOf(row), endpointId: row["endpoint_id"] as string })

/** The columns that {@link eventOf} reads, of `e`. */
export const eventColumns = "e.id AS event_id, e.type, e.at_ms::float8 AS at_ms, e.seq::float8 AS seq, e.hash, e.data"

export const eventOf = (row: Row): StoredEvent => ({
  id: row["event_id"] as string,
  type: row["type"] as string,
  atMs: row["at_ms"] as number,
  seq: row["seq"] as number,
  hash: row["hash"] as Uint8Array,
  data: JSON.parse(row["data"] as string)
})

/** The columns that `attemptOf` reads. */
export const attemptColumns = "attempt, started_at_ms::float8 AS started_at_ms, ended_at_ms::float8 AS ended_at_ms, status_code, error_code, excerpt"
