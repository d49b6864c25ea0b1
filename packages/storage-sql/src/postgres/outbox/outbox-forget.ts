/** Queries for missed events and for deleting finished rows: the two that search the deliveries of an event. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { ForgetAnswer, ForgetRequest, MissedPage, MissedQuery, OutboxApi } from "@flyball/core/storage"
import { forgetRequestProblem, isStorable, limitProblem } from "@flyball/core/storage"
import { firstDeliveryId, firstEventId } from "@flyball/core/thread"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { transaction } from "./claims.ts"
import { inSchema } from "../migrations.ts"
import { eventColumns, eventOf } from "./outbox-rows.ts"
import { faultOf } from "../postgres-fault.ts"
import { decode, invariant, storablePrefix } from "../reads.ts"
import type { Connections } from "../sessions.ts"
import { lend, query } from "../sessions.ts"

/**
 * Deliveries of the events in `page` are in one of two places, by the time in their ids: near their events, and then in
 * one range of the primary key; or owed once more, and then in a small index. `more` must hold for them. `OFFSET 0`
 * makes the server find each event by its key instead of reading the whole of that index first.
 */
const refersTo = (event: string, more: string): string => `(${event} IN (
      SELECT d.event_id FROM flyball.deliveries d
      WHERE d.id >= (SELECT 'dlv_' || substr(min(id), 5, 9) FROM page)
      AND d.id < (SELECT 'dlv_' || substr(max(id), 5, 9) || '~' FROM page)${more})
    OR EXISTS (SELECT 1 FROM flyball.deliveries d WHERE d.event_id = ${event}
    AND substr(d.id, 5, 9) <> substr(d.event_id, 5, 9)${more} OFFSET 0))`

/** `|| ''`: so that the server does not walk over everything that the endpoint was ever owed. */
const OWED_OR_DELIVERED = " AND d.endpoint_id || '' = $6::text AND d.state <= 2"

/** The statements, for the schema `flyball`; a test checks their cost. */
export const forgetTexts = {
  /**
   * Types are compared after the limit: a rare one would have the server read all events for each step. What is not
   * wanted comes without its data.
   */
  missed: `WITH page AS MATERIALIZED (
      SELECT id, type, owner, at_ms, seq, hash, CASE WHEN at_ms >= $3::int8 AND type = ANY ($5::text[])
      AND owner IS NOT DISTINCT FROM $7::text THEN data END AS data
      FROM flyball.events WHERE id > $1::text AND id >= $2::text ORDER BY id LIMIT $4::int8
    )
    SELECT ${eventColumns}, e.data IS NULL OR ${refersTo("e.id", OWED_OR_DELIVERED)} AS passed FROM page e
    ORDER BY e.id`,
  /** Deletes finished deliveries, which do not change any more, so nothing has to be locked. */
  deliveries: `WITH page AS MATERIALIZED (
      SELECT id, state >= 2 AND finished_at_ms < $4::int8 AS over FROM flyball.deliveries WHERE id > $1::text
      AND id < $2::text ORDER BY id LIMIT $3::int8
    ), gone AS (
      DELETE FROM flyball.deliveries d USING page l WHERE d.id = l.id AND l.over RETURNING d.id
    ), attempts AS (
      DELETE FROM flyball.attempts a USING gone g WHERE a.delivery_id = g.id
    )
    SELECT (SELECT count(*) FROM gone)::float8 AS gone, (SELECT count(*) FROM page)::float8 AS page, (SELECT max(id)
    FROM page) AS last`,
  /** Which events seem to be over. */
  events: `WITH page AS MATERIALIZED (SELECT id, at_ms FROM flyball.events WHERE id > $1::text AND id < $2::text
    ORDER BY id LIMIT $3::int8)
    SELECT e.id, e.at_ms < $4::int8 AND e.id <> (SELECT id FROM flyball.events ORDER BY id DESC LIMIT 1)
    AND NOT ${refersTo("e.id", "")} AS over FROM page e ORDER BY e.id`,
  /** A commit may owe an event once more that it has just found: it does so under this lock. */
  lockHead: "SELECT 1 FROM flyball.head FOR UPDATE",
  /** As many as are left of those that seemed to be over, under the lock. */
  deleteEvents: `WITH page AS MATERIALIZED (SELECT id FROM unnest($1::text[]) AS l(id))
    DELETE FROM flyball.events e USING page l WHERE e.id = l.id AND NOT ${refersTo("l.id", "")} RETURNING e.id`
}

/** Both, for one schema. */
export const forgetIn = (readers: Connections, schema: string): Pick<OutboxApi, "missed" | "forget"> => {
  const sql = Object.fromEntries(
    Object.entries(forgetTexts).map(([name, text]) => [name, inSchema(text, schema)])
  ) as typeof forgetTexts

  const missed = Effect.fnUntraced(function* ({ after = "", endpointId, limit, owner, sinceMs, types }: MissedQuery) {
    invariant(limitProblem(limit))
    const params = [
      storablePrefix(after),
      firstEventId(sinceMs),
      String(sinceMs),
      String(limit),
      types.filter(isStorable),
      storablePrefix(endpointId),
      owner
    ]
    const rows = yield* Effect.mapError(query(readers, sql.missed, params), (error) => faultOf(error))
    const events = yield* decode(() => rows.filter((row) => row["passed"] === false).map(eventOf))
    return { events, next: rows.length < limit ? null : (rows.at(-1)!["event_id"] as string) } satisfies MissedPage
  })

  const deliveries = ({ after = "", beforeMs, limit }: ForgetRequest): Effect.Effect<ForgetAnswer, SqlError> =>
    Effect.map(
      query(readers, sql.deliveries, [
        storablePrefix(after),
        firstDeliveryId(beforeMs),
        String(limit),
        String(beforeMs)
      ]),
      ([row]) => ({
        count: row!["gone"] as number,
        next: (row!["page"] as number) < limit ? null : (row!["last"] as string)
      })
    )

  const events = Effect.fnUntraced(function* (
    connection: PgConnection,
    { after = "", beforeMs, limit }: ForgetRequest
  ) {
    const { rows } = yield* connection.query(sql.events, [
      storablePrefix(after),
      firstEventId(beforeMs),
      String(limit),
      String(beforeMs)
    ])
    const over = rows.filter((row) => row["over"] === true).map((row) => row["id"])
    const gone =
      over.length === 0
        ? []
        : yield* transaction(
            connection,
            Effect.andThen(
              connection.query(sql.lockHead),
              Effect.map(connection.query(sql.deleteEvents, [over]), (found) => found.rows)
            )
          )
    return {
      count: gone.length,
      next: rows.length < limit ? null : (rows.at(-1)!["id"] as string)
    } satisfies ForgetAnswer
  })

  return {
    missed,
    forget: (request) =>
      Effect.suspend(() => {
        invariant(forgetRequestProblem(request))
        return Effect.uninterruptible(
          request.what === "deliveries"
            ? deliveries(request)
            : lend(readers, (connection) => events(connection, request))
        )
      }).pipe(Effect.mapError((error) => faultOf(error, "unknown")))
  }
}
