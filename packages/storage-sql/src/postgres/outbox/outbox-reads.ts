/** The reads of the outbox. */
import type { Delivery, OutboxApi, ReadFault } from "@flyball/core/storage"
import { isStorable, limitProblem } from "@flyball/core/storage"
import { firstEventId } from "@flyball/core/thread"
import { Effect } from "effect"
import { attemptOf } from "../../outbox-columns.ts"
import {
  attemptsOfDelivery,
  deliveryColumns,
  deliveryOf,
  deliverySource,
  eventColumns,
  eventOf
} from "./outbox-rows.ts"
import { decode, invariant, storablePrefix } from "../reads.ts"
import type { Row } from "../sessions.ts"

const text = {
  delivery: `SELECT ${deliveryColumns}, a.attempt, a.started_at_ms, a.ended_at_ms, a.status_code, a.error_code,
    a.excerpt
    FROM ${deliverySource} LEFT JOIN LATERAL (${attemptsOfDelivery}) a ON true WHERE d.id = $1::text
    ORDER BY a.attempt`,
  deliveriesOf:
    `SELECT ${deliveryColumns} FROM ${deliverySource} WHERE d.endpoint_id = $1::text AND ` +
    "d.sequence < $2::int8 ORDER BY d.sequence DESC LIMIT $3::int8",
  event: `SELECT ${eventColumns} FROM flyball.events e WHERE e.id = $1::text`,
  events:
    `SELECT ${eventColumns} FROM flyball.events e WHERE e.id > $1::text AND e.id >= $2::text AND e.at_ms ` +
    ">= $3::int8 ORDER BY e.id LIMIT $4::int8",
  eventsOf:
    `SELECT ${eventColumns} FROM flyball.events e WHERE e.id > $1::text AND e.id >= $2::text AND ` +
    "e.at_ms >= $3::int8 AND e.type = ANY ($5::text[]) ORDER BY e.id LIMIT $4::int8",
  owned:
    `SELECT ${eventColumns} FROM flyball.events e WHERE e.owner = $1::text AND e.id > $2::text AND ` +
    "e.id < $3::text AND e.type = ANY ($5::text[]) ORDER BY e.id DESC LIMIT $4::int8"
}

/** Asks one statement of the store's schema. */
type Ask = (sql: string, params: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, ReadFault>

/** The outbox but for claiming and for what `outbox-forget.ts` has. */
export const outboxReadsOf = (ask: Ask): Omit<OutboxApi, "claim" | "missed" | "forget"> => ({
  delivery: Effect.fnUntraced(function* (id) {
    if (!isStorable(id)) return null
    const rows = yield* ask(text.delivery, [id])
    return rows[0] === undefined
      ? null
      : { delivery: deliveryOf(rows[0]), attempts: rows.filter((row) => row["attempt"] !== null).map(attemptOf) }
  }),
  deliveriesOf: Effect.fnUntraced(function* (endpointId, { before = Number.MAX_SAFE_INTEGER, limit }) {
    invariant(limitProblem(limit))
    if (!isStorable(endpointId)) return []
    return (yield* ask(text.deliveriesOf, [endpointId, String(before), String(limit)])).map((row): Delivery =>
      deliveryOf(row)
    )
  }),
  event: Effect.fnUntraced(function* (id) {
    if (!isStorable(id)) return null
    const row = (yield* ask(text.event, [id]))[0]
    return row === undefined ? null : yield* decode(() => eventOf(row))
  }),
  events: Effect.fnUntraced(function* ({ after = "", limit, sinceMs, types }) {
    invariant(limitProblem(limit))
    const params = [
      storablePrefix(after),
      sinceMs === undefined ? "" : firstEventId(sinceMs),
      String(sinceMs ?? 0),
      String(limit)
    ]
    const rows = yield* types === undefined
      ? ask(text.events, params)
      : ask(text.eventsOf, [...params, types.filter(isStorable)])
    return yield* decode(() => rows.map(eventOf))
  }),
  owned: Effect.fnUntraced(function* ({ after = "", before = "~", limit, owner, types }) {
    invariant(limitProblem(limit))
    const bounds = [storablePrefix(after), storablePrefix(before)]
    const rows = yield* ask(text.owned, [storablePrefix(owner), ...bounds, String(limit), types.filter(isStorable)])
    return yield* decode(() => rows.map(eventOf))
  })
})
