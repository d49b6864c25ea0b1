/**
 * Claiming on Postgres: several processes at once, none of which waits for another.
 *
 * A claim locks the endpoints that it takes from (rows of `turns`), and passes over those that another claim has
 * locked, or a commit that moves what is pending to them. So two never count what is in flight to one endpoint at the
 * same time, nor take the same. It reads what it locked again in a statement of its own, which sees all that earlier
 * holders of the lock committed.
 */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import type {
  ClaimAnswer,
  Claimed,
  ClaimRequest,
  Delivery,
  OutboxApi,
  ReadFault,
  StoredEvent
} from "@flyball/core/storage"
import { LAST_STORE_MS, timeProblem } from "@flyball/core/thread"
import { claimProblem, StorageUnavailable, WEBHOOKS } from "@flyball/core/storage"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { chainReplaced } from "../lookups.ts"
import { newerSchema } from "../migrate.ts"
import { inSchema, latestSchema } from "../migrations.ts"
import { deliveryColumns, deliveryOf, eventOf } from "./outbox-rows.ts"
import type { Query } from "../pipeline.ts"
import { pipeline } from "../pipeline.ts"
import { faultOf, isLost } from "../postgres-fault.ts"
import { decode, invariant } from "../reads.ts"
import { inRealTime } from "../real-time.ts"
import type { Connections, Row } from "../sessions.ts"

/** The store's time: never before the head. */
const now = "now AS MATERIALIZED (SELECT greatest(flyball.flyball_now(), at_ms) AS ms FROM flyball.head)"

const inFlight = (endpoint: string): string =>
  `(SELECT count(*) FROM flyball.in_flight f WHERE f.endpoint_id = ${endpoint})`

/** Selects the due deliveries of endpoint `l`, longest due first, up to the free places. */
const oldest = `(SELECT p.ctid AS tid, p.attempts > 0 AS retry, row_number() OVER (ORDER BY p.next_at_ms,
  p.sequence) AS rank FROM flyball.pending p
        WHERE p.endpoint_id = l.endpoint_id AND p.next_at_ms <= now.ms ORDER BY p.next_at_ms, p.sequence LIMIT l.room)`

/** Where a session notes the endpoints that its last claim locked: so that all statements of a claim travel at once. */
const NOTE = "flyball_claim.endpoints"

/** The endpoints in {@link NOTE}, as an array. */
const locked = `current_setting('${NOTE}')::text[]`

/** The statements of a claim, for the schema `flyball`; a test checks their cost. */
export const claimTexts = {
  /**
   * Selects deliveries past their lease, at most $1, each row with the times, and with the versions of the endpoints
   * that were locked; one row without a delivery where there are none.
   */
  survey: `WITH ${now}, times AS MATERIALIZED (SELECT now.ms, h.tableoid::int8::float8 AS home, h.oldest_writer,
      EXISTS (SELECT 1 FROM flyball.pending WHERE next_at_ms <= now.ms) AS due,
      (SELECT min(next_at_ms) FROM flyball.pending WHERE next_at_ms > now.ms) AS next_due,
      (SELECT min(lease_until_ms) FROM flyball.in_flight WHERE lease_until_ms > now.ms) AS next_lease,
      (SELECT json_object_agg(k.id, coalesce((SELECT w.version FROM flyball.documents w
      WHERE w.collection = '${WEBHOOKS}' AND w.id = k.id), 0))::text
        FROM unnest(${locked}) AS k(id)) AS versions FROM now, flyball.head h)
    SELECT t.ms::float8 AS ms, t.home, t.oldest_writer, t.versions, t.due, t.next_due::float8 AS next_due,
    t.next_lease::float8 AS next_lease, ${deliveryColumns}
    FROM times t LEFT JOIN (LATERAL (SELECT * FROM flyball.in_flight WHERE lease_until_ms <= t.ms
    ORDER BY lease_until_ms, delivery_id LIMIT $1::int8) f
      JOIN flyball.deliveries d ON d.id = f.delivery_id) ON true
    ORDER BY f.lease_until_ms, d.id`,
  /**
   * Locks and notes endpoints with something due and room for more ($1 each), at most $2, in turn. Found by jumping in
   * the index of what is pending from the first of one to the first
   * of the next. None where the head is not in the table $3 any more, or where writers have to know a later schema than
   * $4.
   */
  lock: `WITH RECURSIVE ${now}, lane(endpoint_id, next_at_ms) AS (
      (SELECT endpoint_id, next_at_ms FROM flyball.pending
        WHERE (SELECT h.tableoid::int8 = $3::int8 AND h.oldest_writer <= $4::int4 FROM flyball.head h)
          AND (SELECT now.ms <= ${LAST_STORE_MS} FROM now) AND EXISTS (SELECT 1 FROM flyball.pending p, now
          WHERE p.next_at_ms <= now.ms)
        ORDER BY endpoint_id, next_at_ms, sequence LIMIT 1)
      UNION ALL
      SELECT n.endpoint_id, n.next_at_ms FROM lane l CROSS JOIN LATERAL (SELECT p.endpoint_id, p.next_at_ms
      FROM flyball.pending p
        WHERE p.endpoint_id > l.endpoint_id ORDER BY p.endpoint_id, p.next_at_ms, p.sequence LIMIT 1) n
    ), ready AS MATERIALIZED (
      SELECT l.endpoint_id FROM lane l, now WHERE l.next_at_ms <= now.ms AND ${inFlight("l.endpoint_id")} < $1::int8
    )
    SELECT set_config('${NOTE}', coalesce(array_agg(k.endpoint_id), '{}')::text, false) AS locked FROM (
      SELECT t.endpoint_id FROM ready r JOIN flyball.turns t ON t.endpoint_id = r.endpoint_id
      ORDER BY t.turn, t.endpoint_id LIMIT $2::int8 FOR UPDATE OF t SKIP LOCKED
    ) k`,
  /**
   * Takes from the locked endpoints as `takeTurns` of core says, at most $1 of each and $2 in all, for $3 ms. Nobody
   * else removes what is pending to them, so that a row is where it was found.
   * One row for each delivery, in order, and one for each event of theirs.
   */
  take: `WITH ${now}, lane AS MATERIALIZED (
      SELECT t.endpoint_id, t.turn, greatest(0, least($2::int8, $1::int8 - ${inFlight("t.endpoint_id")})) AS room
      FROM unnest(${locked}) AS k(endpoint_id) JOIN flyball.turns t ON t.endpoint_id = k.endpoint_id
    ), chosen AS MATERIALIZED (
      SELECT c.tid, row_number() OVER (ORDER BY c.rank, c.retry, c.turn, c.endpoint_id) AS n FROM (
        SELECT o.tid, o.retry, o.rank, l.turn, l.endpoint_id FROM lane l CROSS JOIN now CROSS JOIN LATERAL ${oldest} o
        ORDER BY o.rank, l.turn, l.endpoint_id LIMIT $2::int8
      ) c
    ), taken AS (
      DELETE FROM flyball.pending p USING chosen c WHERE p.ctid = c.tid RETURNING p.*, c.n
    ), opened AS (
      INSERT INTO flyball.in_flight (endpoint_id, sequence, delivery_id, attempt, started_at_ms, lease_until_ms)
      SELECT endpoint_id, sequence, delivery_id, attempts + 1, now.ms, now.ms + $3::int8 FROM taken, now
    ), turned AS (
      UPDATE flyball.turns t SET turn = (SELECT nextval('flyball.claim_numbers')) * 1000 + s.n
      FROM (SELECT endpoint_id, max(n) AS n FROM taken GROUP BY endpoint_id) s WHERE t.endpoint_id = s.endpoint_id
    )
    SELECT d.n, d.delivery_id AS id, d.event_id, d.endpoint_id, d.sequence::float8 AS sequence, 1 AS state,
    d.attempts + 1 AS attempts, d.created_at_ms::float8 AS created_at_ms,
      NULL::float8 AS next_at_ms, (now.ms + $3::int8)::float8 AS lease_until_ms, NULL::float8 AS finished_at_ms,
      NULL AS type, NULL AS owner, NULL::float8 AS at_ms, NULL::float8 AS seq, NULL::bytea AS hash, NULL AS data
    FROM taken d, now
    UNION ALL
    SELECT NULL, NULL, e.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, e.type, e.owner, e.at_ms::float8,
    e.seq::float8, e.hash, e.data
    FROM (SELECT DISTINCT event_id FROM taken) t JOIN flyball.events e ON e.id = t.event_id
    ORDER BY n`
}

const begin: Query = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", params: [], prepare: false }
const commit: Query = { sql: "COMMIT", params: [], prepare: false }

type Taken = Omit<Claimed, "version">

/**
 * Makes the claim for one schema, of the store whose head is the table `home`. `claimer` has one connection, and gives
 * it to one at a time.
 */
export const claimIn = (claimer: Connections, schema: string, home: number): OutboxApi["claim"] => {
  const sql = Object.fromEntries(
    Object.entries(claimTexts).map(([name, query]) => [name, inSchema(query, schema)])
  ) as typeof claimTexts

  /** All answers, or the first failure. */
  const send = (
    connection: PgConnection,
    queries: ReadonlyArray<Query>
  ): Effect.Effect<ReadonlyArray<Result>, SqlError> =>
    Effect.flatMap(pipeline(connection, queries, claimer.cut), (exits) => Effect.all(exits))

  /** One round trip. What is behind COMMIT sees the claim, and all that was committed until it was durable. */
  const attempt = Effect.fnUntraced(function* (
    connection: PgConnection,
    request: ClaimRequest
  ): Effect.fn.Return<ClaimAnswer, SqlError | ReadFault> {
    const [limit, perEndpoint] = [String(request.limit), String(request.perEndpoint)]
    const [, , taken, committed, surveyed] = yield* send(connection, [
      begin,
      { sql: sql.lock, params: [perEndpoint, limit, String(home), String(latestSchema)] },
      { sql: sql.take, params: [perEndpoint, limit, String(request.leaseMs)] },
      commit,
      { sql: sql.survey, params: [String(request.limit + 1)] }
    ])
    if (committed!.command !== "COMMIT")
      return yield* Effect.die(
        new Error(`COMMIT of a claim answered ${committed!.command} though no statement failed.`)
      )
    const survey = surveyOf(surveyed!.rows)
    if (survey.home !== home) return yield* chainReplaced()
    if (survey.oldestWriter > latestSchema) return yield* newerSchema(survey.oldestWriter)
    // Nothing was claimed then.
    const untimely = timeProblem(survey.ms, null)
    if (untimely !== null) return yield* new StorageUnavailable({ reason: untimely, wrote: "no" })
    return yield* decode(() => answerOf(survey, request, takenOf(taken!.rows)))
  })

  /** Runs one attempt, and leaves no transaction open: closing the session ends it, whatever state it is in. */
  const claim = (request: ClaimRequest) =>
    Effect.scoped(
      Effect.flatMap(claimer.get, (connection) =>
        Effect.onExit(attempt(connection, request), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : claimer.invalidate(connection)
        )
      )
    )

  return (request) =>
    Effect.suspend(() => {
      invariant(claimProblem(request))
      // A session that died while it was idle may be noticed only now; if the claim was made all the same, its leases
      // run out as after a crash.
      return Effect.uninterruptible(
        inRealTime(
          Effect.retry(claim(request), { times: 1, while: (error) => error instanceof SqlError && isLost(error) })
        )
      )
    }).pipe(Effect.mapError((error) => (error instanceof SqlError ? faultOf(error, "unknown") : error)))
}

const takenOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Taken> => {
  const events = new Map<string, StoredEvent>()
  for (const row of rows) if (row["id"] === null) events.set(row["event_id"] as string, eventOf(row))
  return rows.flatMap((row) => {
    if (row["id"] === null) return []
    const event = events.get(row["event_id"] as string)
    // A delivery of an event that does not exist is left to its lease.
    return event === undefined ? [] : [{ delivery: deliveryOf(row), event }]
  })
}

interface Survey {
  readonly ms: number
  readonly home: number
  readonly oldestWriter: number
  readonly isDue: boolean
  readonly nextDue: number | null
  readonly nextLease: number | null
  readonly versions: { readonly [endpointId: string]: number }
  readonly late: ReadonlyArray<Delivery>
}

const surveyOf = (rows: ReadonlyArray<Row>): Survey => {
  const times = rows[0]!
  return {
    ms: times["ms"] as number,
    home: times["home"] as number,
    oldestWriter: times["oldest_writer"] as number,
    isDue: times["due"] as boolean,
    nextDue: times["next_due"] as number | null,
    nextLease: times["next_lease"] as number | null,
    versions: JSON.parse((times["versions"] as string | null) ?? "{}") as Survey["versions"],
    late: rows.filter((row) => row["id"] !== null).map(deliveryOf)
  }
}

const answerOf = (survey: Survey, { leaseMs, limit }: ClaimRequest, taken: ReadonlyArray<Taken>): ClaimAnswer => {
  const waits = [survey.nextDue, survey.nextLease, survey.isDue ? survey.ms + leaseMs : null].filter(
    (at): at is number => at !== null
  )
  const isMore = taken.length === limit || survey.late.length > limit
  return {
    claimed: taken.map((one): Claimed => ({ ...one, version: survey.versions[one.delivery.endpointId]! })),
    lapsed: survey.late.slice(0, limit),
    nextAtMs: isMore ? survey.ms : waits.length === 0 ? null : Math.min(...waits)
  }
}

/** One transaction on one connection. */
export const transaction = <A>(connection: PgConnection, use: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
  connection.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", [], false).pipe(
    Effect.andThen(use),
    Effect.tap(() => connection.query("COMMIT", [], false)),
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.ignore(connection.query("ROLLBACK", [], false))
    )
  )
