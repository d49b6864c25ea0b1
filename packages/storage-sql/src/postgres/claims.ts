/**
 * Claiming on Postgres: several processes at once, none of which waits for another.
 *
 * Whoever claims locks the endpoints that he takes from (rows of `turns`), and passes over those that another has locked: so two never count what is in flight to one
 * endpoint at the same time. What he locked he looks at again in a statement of its own, which sees all that earlier holders of the lock committed.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import type { ClaimAnswer, Claimed, ClaimRequest, OutboxApi } from "@flyball/core/storage"
import { claimProblem, WEBHOOKS } from "@flyball/core/storage"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { chainReplaced } from "./lookups.ts"
import { inSchema } from "./migrations.ts"
import { deliveryColumns, deliveryOf, eventColumns, eventOf } from "./outbox-rows.ts"
import { faultOf, isLost } from "./postgres-fault.ts"
import { decode, invariant } from "./reads.ts"
import { inRealTime } from "./real-time.ts"
import type { Row } from "./sessions.ts"

/** The store's time: never before the head. */
const now = "now AS MATERIALIZED (SELECT greatest(flyball.flyball_now(), at_ms) AS ms FROM flyball.head)"

const inFlight = (endpoint: string): string => `(SELECT count(*) FROM flyball.deliveries f WHERE f.state = 1 AND f.endpoint_id = ${endpoint})`

const due = (endpoint: string, retry: 0 | 1): string =>
  `FROM flyball.deliveries w WHERE w.state = 0 AND w.endpoint_id = ${endpoint} AND w.retry = ${retry} AND w.next_at_ms <= now.ms`

/** Ids of the oldest that are due to endpoint `l`, as an array. */
const oldest = (retry: 0 | 1, room: string): string =>
  `(SELECT array_agg(o.id ORDER BY o.next_at_ms, o.sequence) FROM (SELECT w.id, w.next_at_ms, w.sequence ${due("l.endpoint_id", retry)} ORDER BY w.next_at_ms, w.sequence LIMIT ${room}) o)`

/** The statements of a claim, for the schema `flyball`; a test looks at what they cost. */
export const claimTexts = {
  /** What is beyond its lease, at most $1, each row with the times, and with the versions of the endpoints $2; one row without a delivery where nothing is. */
  look: `WITH ${now}, times AS MATERIALIZED (SELECT now.ms, h.tableoid::int8::float8 AS home,
      EXISTS (SELECT 1 FROM flyball.deliveries WHERE state = 0 AND next_at_ms <= now.ms) AS due,
      (SELECT min(next_at_ms) FROM flyball.deliveries WHERE state = 0 AND next_at_ms > now.ms) AS next_due,
      (SELECT min(lease_until_ms) FROM flyball.deliveries WHERE state = 1 AND lease_until_ms > now.ms) AS next_lease,
      (SELECT array_agg(coalesce((SELECT w.version FROM flyball.documents w WHERE w.collection = '${WEBHOOKS}' AND w.id = k.id), 0) ORDER BY k.n)::text
        FROM unnest($2::text[]) WITH ORDINALITY AS k(id, n)) AS versions FROM now, flyball.head h)
    SELECT t.ms::float8 AS ms, t.home, t.versions, t.due, t.next_due::float8 AS next_due, t.next_lease::float8 AS next_lease, ${deliveryColumns}
    FROM times t LEFT JOIN LATERAL (SELECT * FROM flyball.deliveries WHERE state = 1 AND lease_until_ms <= t.ms ORDER BY lease_until_ms, id LIMIT $1::int8) d ON true
    ORDER BY d.lease_until_ms, d.id`,
  /** Endpoints with something due and room for more ($1 each), at most $2, in turn. Found by jumping from one to the next in an index of what is pending. */
  lock: `WITH RECURSIVE ${now}, lane(endpoint_id) AS (
      (SELECT endpoint_id FROM flyball.deliveries WHERE state = 0 ORDER BY endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT d.endpoint_id FROM flyball.deliveries d WHERE d.state = 0 AND d.endpoint_id > l.endpoint_id ORDER BY d.endpoint_id LIMIT 1) FROM lane l WHERE l.endpoint_id IS NOT NULL
    ), ready AS MATERIALIZED (
      SELECT l.endpoint_id, EXISTS (SELECT 1 ${due("l.endpoint_id", 0)}) AS first FROM lane l, now
      WHERE l.endpoint_id IS NOT NULL AND ${inFlight("l.endpoint_id")} < $1::int8 AND (EXISTS (SELECT 1 ${due("l.endpoint_id", 0)}) OR EXISTS (SELECT 1 ${due("l.endpoint_id", 1)}))
    )
    SELECT t.endpoint_id FROM ready r JOIN flyball.turns t ON t.endpoint_id = r.endpoint_id
    ORDER BY r.first DESC, t.turn, t.endpoint_id LIMIT $2::int8 FOR UPDATE OF t SKIP LOCKED`,
  /**
   * Takes from the locked endpoints $1 as `takeTurns` of core says. Deliveries that a commit holds at this moment are passed over.
   * `state + 0`: so that the server does not look for a handful of ids in an index of all that is pending.
   */
  take: `WITH ${now}, lane AS MATERIALIZED (
      SELECT t.endpoint_id, t.turn, greatest(0, least($3::int8, $2::int8 - ${inFlight("t.endpoint_id")})) AS room
      FROM unnest($1::text[]) AS k(endpoint_id) JOIN flyball.turns t ON t.endpoint_id = k.endpoint_id
    ), offer AS (
      SELECT l.endpoint_id, l.turn, f.ids AS firsts, ${oldest(1, "l.room - coalesce(cardinality(f.ids), 0)")} AS retries
      FROM lane l CROSS JOIN now CROSS JOIN LATERAL (SELECT ${oldest(0, "l.room")} AS ids OFFSET 0) f
    ), chosen AS MATERIALIZED (
      SELECT id, endpoint_id, row_number() OVER (ORDER BY retry, rank, turn, endpoint_id) AS n FROM (
        SELECT f.id, 0 AS retry, f.rank, o.turn, o.endpoint_id FROM offer o, unnest(o.firsts) WITH ORDINALITY AS f(id, rank)
        UNION ALL
        SELECT r.id, 1, r.rank, o.turn, o.endpoint_id FROM offer o, unnest(o.retries) WITH ORDINALITY AS r(id, rank)
        ORDER BY retry, rank, turn, endpoint_id LIMIT $3::int8
      ) c
    ), free AS MATERIALIZED (
      SELECT c.id, c.endpoint_id, c.n FROM chosen c JOIN flyball.deliveries d ON d.id = c.id WHERE d.state + 0 = 0 FOR UPDATE OF d SKIP LOCKED
    ), taken AS (
      UPDATE flyball.deliveries d SET state = 1, attempts = d.attempts + 1, next_at_ms = NULL, lease_until_ms = now.ms + $4::int8 FROM free f, now WHERE d.id = f.id RETURNING d.*, f.n
    ), opened AS (
      INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, excerpt) SELECT id, attempts, now.ms, '""' FROM taken, now
    ), turned AS (
      UPDATE flyball.turns t SET turn = s.turn
      FROM (SELECT f.endpoint_id, (SELECT max(turn) FROM flyball.turns) + max(f.n) AS turn FROM free f GROUP BY f.endpoint_id) s WHERE t.endpoint_id = s.endpoint_id
    )
    SELECT ${deliveryColumns}, ${eventColumns} FROM taken d JOIN flyball.events e ON e.id = d.event_id ORDER BY d.n`
}

/** Makes the claim for one schema, of the store whose head is the table `home`. */
export const claimIn = (readers: PgPool, schema: string, home: number): OutboxApi["claim"] => {
  const sql = Object.fromEntries(Object.entries(claimTexts).map(([name, query]) => [name, inSchema(query, schema)])) as typeof claimTexts

  const look = (connection: PgConnection, { leaseMs, limit }: ClaimRequest, claimed: ReadonlyArray<Omit<Claimed, "version">>) => {
    const endpoints = [...new Set(claimed.map(({ delivery }) => delivery.endpointId))]
    return Effect.map(connection.query(sql.look, [String(limit + 1), endpoints]), ({ rows }) => lookOf(rows, leaseMs, limit, claimed, endpoints))
  }

  const take = Effect.fnUntraced(function*(connection: PgConnection, { leaseMs, limit, perEndpoint }: ClaimRequest) {
    // Planned once for a connection, not for each claim: that took longer than the locking itself. And a plan by the numbers of a small table must not stay.
    yield* connection.query("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)", [])
    const locked = yield* connection.query(sql.lock, [String(perEndpoint), String(limit)])
    if (locked.rows.length === 0) return []
    return (yield* connection.query(sql.take, [locked.rows.map((row) => row["endpoint_id"]), String(perEndpoint), String(limit), String(leaseMs)])).rows
  })

  /** `began` is called before the first statement that may change anything. */
  const attempt = Effect.fnUntraced(function*(connection: PgConnection, request: ClaimRequest, began: () => void) {
    const before = yield* look(connection, request, [])
    if (before.home !== home) return yield* chainReplaced()
    if (!before.due) return before.answer
    began()
    const rows = yield* transaction(connection, take(connection, request))
    const claimed = yield* decode(() => rows.map((row) => ({ delivery: deliveryOf(row), event: eventOf(row) })))
    return (yield* look(connection, request, claimed)).answer
  })

  return (request) =>
    Effect.suspend(() => {
      invariant(claimProblem(request))
      let begun = false
      const once = readers.use((connection) => attempt(connection, request, () => {
        begun = true
      }))
      // A session that died while it was idle may be noticed only now. Never interrupted: what is claimed is told to somebody.
      return Effect.uninterruptible(inRealTime(Effect.retry(once, { times: 1, while: (error) => error instanceof SqlError && isLost(error) && !begun })))
    }).pipe(Effect.mapError((error) => error instanceof SqlError ? faultOf(error, "unknown") : error))
}

interface Look {
  readonly home: number
  readonly due: boolean
  readonly answer: ClaimAnswer
}

const lookOf = (rows: ReadonlyArray<Row>, leaseMs: number, limit: number, taken: ReadonlyArray<Omit<Claimed, "version">>, endpoints: ReadonlyArray<string>): Look => {
  const times = rows[0]!
  const ms = times["ms"] as number
  const late = rows.filter((row) => row["id"] !== null)
  const isDue = times["due"] as boolean
  const found = (times["versions"] as string | null)?.slice(1, -1).split(",").map(Number) ?? []
  const versions = new Map(endpoints.map((id, n) => [id, found[n]!]))
  const claimed = taken.map((one): Claimed => ({ ...one, version: versions.get(one.delivery.endpointId)! }))
  const waits = [times["next_due"], times["next_lease"], isDue ? ms + leaseMs : null].filter((at): at is number => at !== null)
  const isMore = claimed.length === limit || late.length > limit
  return {
    home: times["home"] as number,
    due: isDue,
    answer: { claimed, lapsed: late.slice(0, limit).map(deliveryOf), nextAtMs: isMore ? ms : waits.length === 0 ? null : Math.min(...waits) }
  }
}

/** One transaction on one connection. */
export const transaction = <A>(connection: PgConnection, use: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
  connection.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", [], false).pipe(
    Effect.andThen(use),
    Effect.tap(() => connection.query("COMMIT", [], false)),
    Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Effect.ignore(connection.query("ROLLBACK", [], false)))
  )
