/** What a group does to the outbox, as statements: none, unless a ChangeSet of it asked for something. */
import { states } from "../outbox-columns.ts"
import type { GroupOutbox } from "./group-outbox.ts"
import type { Query } from "./pipeline.ts"
import { intArray, nullableInts } from "./sessions.ts"

/** As statements for the schema `flyball`. */
export const outboxWrites = {
  cancelPending: `UPDATE flyball.deliveries SET state = 4, next_at_ms = NULL, finished_at_ms = $2::int8 WHERE state = 0 AND endpoint_id = ANY ($1::text[])`,
  moveDeliveries: `UPDATE flyball.deliveries d SET state = m.state, next_at_ms = m.next_at_ms, lease_until_ms = NULL, finished_at_ms = CASE WHEN m.state = 0 THEN NULL ELSE $4::int8 END
    FROM unnest($1::text[], $2::int2[], $3::int8[]) AS m(id, state, next_at_ms) WHERE d.id = m.id`,
  endAttempts: `UPDATE flyball.attempts a SET ended_at_ms = m.at_ms, status_code = m.status_code, error_code = nullif(m.error_code, ''), excerpt = m.excerpt
    FROM unnest($1::text[], $2::int4[], $3::int8[], $4::int4[], $5::text[], $6::text[]) AS m(delivery_id, attempt, at_ms, status_code, error_code, excerpt)
    WHERE a.delivery_id = m.delivery_id AND a.attempt = m.attempt`,
  addEvents: `INSERT INTO flyball.events (id, type, at_ms, seq, hash, data)
    SELECT id, type, $2::int8, seq, substring($1::bytea FROM (n * 32 - 31)::int4 FOR 32), data
    FROM unnest($3::text[], $4::text[], $5::int8[], $6::text[]) WITH ORDINALITY AS e(id, type, seq, data, n)`,
  addDeliveries: `INSERT INTO flyball.deliveries (id, event_id, endpoint_id, sequence, state, attempts, created_at_ms, next_at_ms, finished_at_ms)
    SELECT id, event_id, endpoint_id, sequence, state, 0, $6::int8, CASE WHEN state = 0 THEN $6::int8 END, CASE WHEN state = 0 THEN NULL ELSE $6::int8 END
    FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int2[]) AS d(id, event_id, endpoint_id, sequence, state)`,
  setSequences: `WITH s AS (SELECT endpoint_id, sequence FROM unnest($1::text[], $2::int8[]) AS s(endpoint_id, sequence)),
    t AS (INSERT INTO flyball.turns (endpoint_id, turn) SELECT endpoint_id, 0 FROM s WHERE NOT EXISTS (SELECT 1 FROM flyball.sequences o WHERE o.endpoint_id = s.endpoint_id) ON CONFLICT DO NOTHING)
    INSERT INTO flyball.sequences (endpoint_id, sequence) SELECT endpoint_id, sequence FROM s ON CONFLICT (endpoint_id) DO UPDATE SET sequence = excluded.sequence`
}

/** The statements of a group, in the order in which they must run. */
export const outboxQueries = (sql: typeof outboxWrites, { cancelled, deliveries, ended, events, moved, sequences }: GroupOutbox, atMs: number): ReadonlyArray<Query> => [
  ...cancelled.size === 0 ? [] : [{ sql: sql.cancelPending, params: [[...cancelled], String(atMs)] }],
  ...moved.size === 0 ? [] : [{
    sql: sql.moveDeliveries,
    params: [[...moved.keys()], intArray([...moved.values()].map(({ state }) => states.indexOf(state))), nullableInts([...moved.values()].map(({ nextAttemptAtMs }) => nextAttemptAtMs)), String(atMs)]
  }],
  ...ended.length === 0 ? [] : [{
    sql: sql.endAttempts,
    params: [
      ended.map(({ deliveryId }) => deliveryId), intArray(ended.map(({ attempt }) => attempt)), intArray(ended.map(({ endedAtMs }) => endedAtMs)),
      nullableInts(ended.map(({ statusCode }) => statusCode)), ended.map(({ errorCode }) => errorCode ?? ""), ended.map(({ responseExcerpt }) => JSON.stringify(responseExcerpt))
    ]
  }],
  ...events.length === 0 ? [] : [{
    sql: sql.addEvents,
    params: [
      Buffer.concat(events.map(({ head }) => head.hash)), String(atMs), events.map(({ id }) => id), events.map(({ type }) => type),
      intArray(events.map(({ head }) => head.seq)), events.map(({ data }) => data)
    ]
  }],
  ...deliveries.length === 0 ? [] : [{
    sql: sql.addDeliveries,
    params: [
      deliveries.map(({ id }) => id), deliveries.map(({ eventId }) => eventId), deliveries.map(({ endpointId }) => endpointId),
      intArray(deliveries.map(({ sequence }) => sequence)), intArray(deliveries.map(({ cancelled: gone }) => gone ? states.indexOf("cancelled") : 0)), String(atMs)
    ]
  }],
  ...sequences.size === 0 ? [] : [{ sql: sql.setSequences, params: [[...sequences.keys()], intArray([...sequences.values()])] }]
]
