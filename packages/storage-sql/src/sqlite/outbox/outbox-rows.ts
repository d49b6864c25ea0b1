/** Rows of the outbox as SQLite hands them out. */
import type { Delivery } from "@flyball/core/storage"
import { deliveryColumnsOf, type OutboxRow } from "../../outbox-columns.ts"
import type { EventRow } from "../thread/protocol.ts"
import type { StringTable } from "../string-table.ts"

/** The columns that {@link deliveryOf} reads, of `delivery d` and `event e`. */
export const deliveryColumns =
  "d.id, e.id AS event_id, d.endpoint, d.sequence, d.state, d.attempts, d.created_at_ms, d.next_at_ms, " +
  "d.lease_until_ms, d.finished_at_ms"

/** The delivery in a row. */
export const deliveryOf = (row: OutboxRow, strings: Pick<StringTable, "text">): Delivery => ({
  ...deliveryColumnsOf(row),
  endpointId: strings.text(row["endpoint"] as number)
})

/** The columns that {@link eventOf} reads, of `event e`. */
export const eventColumns = "e.id AS event_id, e.type, e.owner, e.at_ms, e.seq, e.hash, e.data"

/** The event in a row. */
export const eventOf = (row: OutboxRow, strings: Pick<StringTable, "text">): EventRow => ({
  id: row["event_id"] as string,
  type: strings.text(row["type"] as number),
  ...(row["owner"] === null ? {} : { owner: strings.text(row["owner"] as number) }),
  atMs: row["at_ms"] as number,
  seq: row["seq"] as number,
  hash: row["hash"] as Uint8Array,
  data: row["data"] as string
})
