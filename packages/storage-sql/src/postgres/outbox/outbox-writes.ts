/** Statements that write a group's changes to the outbox: none, unless one of its ChangeSets changes it. */
import { states } from "../../outbox-columns.ts"
import type { GroupOutbox } from "./group-outbox.ts"
import type { Query } from "../pipeline.ts"
import { intArray, jsonArray, nullableInts, textArray } from "../sessions.ts"

/** As statements for the schema `flyball`. */
export const outboxWrites = {
  cancelPending: `WITH gone AS (DELETE FROM flyball.pending WHERE endpoint_id = ANY ($1::text[]) RETURNING delivery_id)
    UPDATE flyball.deliveries d SET state = 4, next_at_ms = NULL, finished_at_ms = $2::int8 FROM gone g
    WHERE d.id = g.delivery_id`,
  /** Moves ended attempts from the table of deliveries in flight to the table of attempts. */
  endAttempts: `WITH landed AS (DELETE FROM flyball.in_flight f
      USING unnest($1::text[], $2::int8[], $3::int8[], $4::int4[], $5::text[], $6::text[]) AS m(endpoint_id, sequence,
      at_ms, status_code, error_code, excerpt)
      WHERE f.endpoint_id = m.endpoint_id AND f.sequence = m.sequence
      RETURNING f.delivery_id, f.attempt, f.started_at_ms, m.at_ms, m.status_code,
      nullif(m.error_code, '') AS error_code, CASE WHEN f.answer_forgotten THEN '""' ELSE m.excerpt END)
    INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code, excerpt)
    SELECT * FROM landed`,
  /** After the attempts that end in the same group: they were under way, or over, at the request. */
  forgetAnswers: `WITH under_way AS (UPDATE flyball.in_flight SET answer_forgotten = true
    WHERE endpoint_id = ANY ($1::text[]))
    UPDATE flyball.attempts a SET excerpt = '""' FROM flyball.deliveries d WHERE d.endpoint_id = ANY ($1::text[])
    AND a.delivery_id = d.id AND a.excerpt <> '""'`,
  /** Removes deliveries from the queue by their place in it; runs before they get another. */
  unqueue: `DELETE FROM flyball.pending p USING unnest($1::text[]) AS k(id), flyball.deliveries d
    WHERE d.id = k.id AND p.endpoint_id = d.endpoint_id AND p.next_at_ms = d.next_at_ms AND p.sequence = d.sequence`,
  moveDeliveries: `UPDATE flyball.deliveries d
    SET state = m.state, attempts = m.attempts, next_at_ms = m.next_at_ms,
      finished_at_ms = CASE WHEN m.state = 0 THEN NULL ELSE $5::int8 END
    FROM unnest($1::text[], $2::int2[], $3::int4[], $4::int8[]) AS m(id, state, attempts, next_at_ms)
    WHERE d.id = m.id`,
  queue: `INSERT INTO flyball.pending (endpoint_id, next_at_ms, sequence, delivery_id, event_id, attempts,
    created_at_ms)
    SELECT d.endpoint_id, d.next_at_ms, d.sequence, d.id, d.event_id, d.attempts, d.created_at_ms
    FROM unnest($1::text[]) AS k(id) JOIN flyball.deliveries d ON d.id = k.id`,
  addEvents: `INSERT INTO flyball.events (id, type, at_ms, seq, hash, data, owner)
    SELECT id, type, $2::int8, seq, substring($1::bytea FROM (n * 32 - 31)::int4 FOR 32), data, nullif(owner, '')
    FROM unnest($3::text[], $4::text[], $5::int8[], $6::text[], $7::text[])
    WITH ORDINALITY AS e(id, type, seq, data, owner, n)`,
  addDeliveries: `WITH d AS (SELECT *
    FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int2[]) AS d(id, event_id, endpoint_id, sequence,
    state)),
    waiting AS (INSERT INTO flyball.pending (endpoint_id, next_at_ms, sequence, delivery_id, event_id, attempts,
    created_at_ms)
      SELECT endpoint_id, $6::int8, sequence, id, event_id, 0, $6::int8 FROM d WHERE state = 0)
    INSERT INTO flyball.deliveries (id, event_id, endpoint_id, sequence, state, attempts, created_at_ms, next_at_ms,
    finished_at_ms)
    SELECT id, event_id, endpoint_id, sequence, state, 0, $6::int8, CASE WHEN state = 0 THEN $6::int8 END,
    CASE WHEN state = 0 THEN NULL ELSE $6::int8 END FROM d`,
  setSequences: `WITH s AS (SELECT endpoint_id, sequence
    FROM unnest($1::text[], $2::int8[]) AS s(endpoint_id, sequence)),
    t AS (INSERT INTO flyball.turns (endpoint_id, turn) SELECT endpoint_id, 0 FROM s WHERE NOT EXISTS (SELECT 1
    FROM flyball.sequences o WHERE o.endpoint_id = s.endpoint_id) ON CONFLICT DO NOTHING)
    INSERT INTO flyball.sequences (endpoint_id, sequence) SELECT endpoint_id, sequence FROM s
    ON CONFLICT (endpoint_id) DO UPDATE SET sequence = excluded.sequence`
}

/** The statements of a group, in the order in which they must run. */
export const outboxQueries = (
  sql: typeof outboxWrites,
  { cancelled, deliveries, ended, events, forgotten, moved, sequences, unqueued }: GroupOutbox,
  atMs: number
): ReadonlyArray<Query> => [
  ...(cancelled.size === 0 ? [] : [{ sql: sql.cancelPending, params: [[...cancelled], String(atMs)] }]),
  ...(ended.length === 0
    ? []
    : [
        {
          sql: sql.endAttempts,
          params: [
            textArray(ended.map(({ endpointId }) => endpointId)),
            intArray(ended.map(({ sequence }) => sequence)),
            intArray(ended.map(({ endedAtMs }) => endedAtMs)),
            nullableInts(ended.map(({ statusCode }) => statusCode)),
            textArray(ended.map(({ errorCode }) => errorCode ?? "")),
            jsonArray(ended.map(({ responseExcerpt }) => JSON.stringify(responseExcerpt)))
          ]
        }
      ]),
  ...(forgotten.size === 0 ? [] : [{ sql: sql.forgetAnswers, params: [[...forgotten]] }]),
  ...(unqueued.size === 0 ? [] : [{ sql: sql.unqueue, params: [[...unqueued]] }]),
  ...(moved.size === 0
    ? []
    : [
        {
          sql: sql.moveDeliveries,
          params: [
            textArray([...moved.keys()]),
            intArray([...moved.values()].map(({ state }) => states.indexOf(state))),
            intArray([...moved.values()].map(({ attempts }) => attempts)),
            nullableInts([...moved.values()].map(({ nextAttemptAtMs }) => nextAttemptAtMs)),
            String(atMs)
          ]
        }
      ]),
  ...(queued(moved).length === 0 ? [] : [{ sql: sql.queue, params: [queued(moved)] }]),
  ...(events.length === 0
    ? []
    : [
        {
          sql: sql.addEvents,
          params: [
            Buffer.concat(events.map(({ head }) => head.hash)),
            String(atMs),
            events.map(({ id }) => id),
            events.map(({ type }) => type),
            intArray(events.map(({ head }) => head.seq)),
            events.map(({ data }) => data),
            textArray(events.map(({ owner = "" }) => owner))
          ]
        }
      ]),
  ...(deliveries.length === 0
    ? []
    : [
        {
          sql: sql.addDeliveries,
          params: [
            textArray(deliveries.map(({ id }) => id)),
            textArray(deliveries.map(({ eventId }) => eventId)),
            textArray(deliveries.map(({ endpointId }) => endpointId)),
            intArray(deliveries.map(({ sequence }) => sequence)),
            intArray(deliveries.map(({ cancelled: gone }) => (gone ? states.indexOf("cancelled") : 0))),
            String(atMs)
          ]
        }
      ]),
  ...(sequences.size === 0
    ? []
    : [{ sql: sql.setSequences, params: [[...sequences.keys()], intArray([...sequences.values()])] }])
]

/** Ids of what waits again. */
const queued = (moved: GroupOutbox["moved"]): ReadonlyArray<string> =>
  [...moved].flatMap(([id, { state }]) => (state === "pending" ? [id] : []))
