/**
 * Reads of the outbox that a group needs before it can be admitted: none, unless one of its ChangeSets depends on
 * the outbox.
 */
import type { Result } from "@effect/sql-pg/PgConnection"
import { wanted, wantedKey } from "@flyball/core/thread"
import { WEBHOOKS } from "@flyball/core/storage"
import { states } from "../../outbox-columns.ts"
import type { GroupView } from "../group-view.ts"
import type { PreparedChange } from "../prepare.ts"
import { textArray } from "../sessions.ts"

/**
 * As statements for the schema `flyball`. What is in flight is moved by commits only, one at a time. What is pending is
 * taken by claims too: a commit that moves it locks its endpoints first. Concurrent claims pass them over, and one that
 * already holds a lock is waited for.
 */
export const outboxText = {
  lastEvent: "SELECT id FROM flyball.events ORDER BY id DESC LIMIT 1",
  wanting: `SELECT k.n::int4 AS n, d.id, s.sequence::float8 AS sequence
    FROM unnest($1::text[]) WITH ORDINALITY AS k(key, n)
    JOIN flyball.document_keys d ON d.collection = '${WEBHOOKS}' AND d.key = k.key AND d.value = '${wanted}' LEFT
    JOIN flyball.sequences s ON s.endpoint_id = d.id`,
  sequences:
    "SELECT s.endpoint_id, s.sequence::float8 AS sequence FROM unnest($1::text[]) AS k(endpoint_id) JOIN " +
    "flyball.sequences s ON s.endpoint_id = k.endpoint_id",
  events: "SELECT e.id FROM unnest($1::text[]) AS k(id) JOIN flyball.events e ON e.id = k.id",
  lockTurns: `SELECT 1 FROM (SELECT endpoint_id FROM unnest($1::text[]) AS c(endpoint_id) UNION SELECT d.endpoint_id
    FROM unnest($2::text[]) AS k(id) JOIN flyball.deliveries d ON d.id = k.id) e
    JOIN flyball.turns t ON t.endpoint_id = e.endpoint_id FOR UPDATE OF t`,
  deliveries: `SELECT d.id, d.endpoint_id, d.sequence::float8 AS sequence,
    CASE WHEN f.attempt IS NULL THEN d.state ELSE 1 END::int4 AS state, coalesce(f.attempt, d.attempts) AS attempts,
    d.next_at_ms::float8 AS next_at_ms
    FROM unnest($1::text[]) AS k(id) JOIN flyball.deliveries d ON d.id = k.id LEFT JOIN flyball.in_flight f
    ON f.endpoint_id = d.endpoint_id AND f.sequence = d.sequence`
}

interface OutboxLookup {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  readonly read: (view: GroupView, rows: Result["rows"]) => void
}

/** The questions of a group, which must all wait for the lock. */
export const outboxLookups = (
  sql: typeof outboxText,
  changes: ReadonlyArray<PreparedChange>
): ReadonlyArray<OutboxLookup> => {
  if (changes.every(({ outbox }) => outbox === null)) return []
  const drafts = changes.flatMap(({ outbox }) => outbox ?? [])
  const keys = distinct(drafts.flatMap(({ events }) => events.map(wantedKey)))
  const again = drafts.flatMap((draft) => draft.again)
  const moved = distinct(drafts.flatMap(({ moves }) => moves.map(({ id }) => id)))
  const cancelled = distinct(drafts.flatMap(({ cancel }) => cancel.map(({ endpointId }) => endpointId)))
  const waiting = distinct(
    drafts.flatMap(({ moves }) => moves.flatMap(({ from, id }) => (from.state === "pending" ? [id] : [])))
  )
  const put =
    keys.length === 0
      ? []
      : changes.flatMap(({ change }) =>
          (change.puts ?? []).flatMap(({ collection, id }) => (collection === WEBHOOKS ? [id] : []))
        )
  const endpoints = distinct([...put, ...again.map(({ endpointId }) => endpointId)])
  return [
    ...(keys.length === 0
      ? []
      : [
          { sql: sql.lastEvent, params: [], read: readLastEvent },
          { sql: sql.wanting, params: [keys], read: readWanting(keys) }
        ]),
    ...(endpoints.length === 0 ? [] : [{ sql: sql.sequences, params: [endpoints], read: readSequences }]),
    ...(again.length === 0
      ? []
      : [{ sql: sql.events, params: [distinct(again.map(({ eventId }) => eventId))], read: readEvents }]),
    ...(cancelled.length + waiting.length === 0
      ? []
      : [{ sql: sql.lockTurns, params: [cancelled, waiting], read: readNothing }]),
    ...(moved.length === 0 ? [] : [{ sql: sql.deliveries, params: [textArray(moved)], read: readDeliveries }])
  ]
}

const distinct = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

type Read = OutboxLookup["read"]

const readNothing: Read = () => {}

const readLastEvent: Read = ({ outbox }, [row]) => {
  outbox.lastEventId = row === undefined ? null : (row["id"] as string)
}

const readWanting =
  (keys: ReadonlyArray<string>): Read =>
  ({ outbox }, rows) => {
    for (const key of keys) outbox.knowKey(key)
    for (const row of rows) {
      outbox.knowWanting(keys[(row["n"] as number) - 1]!, row["id"] as string)
      if (row["sequence"] !== null) outbox.knowSequence(row["id"] as string, row["sequence"] as number)
    }
  }

const readSequences: Read = ({ outbox }, rows) => {
  for (const row of rows) outbox.knowSequence(row["endpoint_id"] as string, row["sequence"] as number)
}

const readEvents: Read = ({ outbox }, rows) => {
  for (const row of rows) outbox.knowEvent(row["id"] as string)
}

const readDeliveries: Read = ({ outbox }, rows) => {
  for (const row of rows) {
    outbox.knowDelivery(row["id"] as string, {
      state: states[row["state"] as number]!,
      attempts: row["attempts"] as number,
      endpointId: row["endpoint_id"] as string,
      sequence: row["sequence"] as number,
      nextAttemptAtMs: row["next_at_ms"] as number | null
    })
  }
}
