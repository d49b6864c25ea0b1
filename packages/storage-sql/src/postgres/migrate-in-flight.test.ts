import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { inSchema, migrations } from "./migrations.ts"
import { ask, connect, givenDatabase, openStore } from "./testing/given-database.ts"

const database = givenDatabase()
const LATER = 9_000_000_000_000

/** A store of schema 3 in which deliveries wait, wait for another try, are in flight, and are over. */
const given = Effect.fnUntraced(function* (schema: string) {
  const connection = yield* connect(database.url)
  const run = (sql: string) => connection.query(inSchema(sql, schema), [], false)
  yield* run(`CREATE SCHEMA ${schema}`)
  yield* run("CREATE TABLE flyball.migrations (id integer PRIMARY KEY, name text NOT NULL, at_ms bigint NOT NULL)")
  for (const { id, name, statements } of migrations.slice(0, 3)) {
    for (const statement of statements) yield* run(statement)
    yield* run(`INSERT INTO flyball.migrations VALUES (${id}, '${name}', 0)`)
  }
  yield* run(
    "INSERT INTO flyball.events (id, type, at_ms, seq, hash, data) VALUES ('evt_1', 'thing.made', 5, 0, '', '{}')"
  )
  yield* run(`INSERT INTO flyball.deliveries (id, event_id, endpoint_id, sequence, state, attempts, created_at_ms,
    next_at_ms, lease_until_ms, finished_at_ms) VALUES
    ('dlv_new', 'evt_1', 'whk_a', 1, 0, 0, 5, 5, NULL, NULL),
    ('dlv_again', 'evt_1', 'whk_a', 2, 0, 3, 5, 6, NULL, NULL),
    ('dlv_later', 'evt_1', 'whk_a', 3, 0, 1, 5, ${LATER}, NULL, NULL),
    ('dlv_first', 'evt_1', 'whk_b', 1, 1, 1, 5, NULL, ${LATER}, NULL),
    ('dlv_lapsed', 'evt_1', 'whk_b', 2, 1, 7, 5, NULL, 8, NULL),
    ('dlv_done', 'evt_1', 'whk_b', 3, 2, 2, 5, NULL, NULL, 9),
    ('dlv_failed', 'evt_1', 'whk_b', 4, 3, 7, 5, NULL, NULL, 9),
    ('dlv_gone', 'evt_1', 'whk_b', 5, 4, 0, 5, NULL, NULL, 9)`)
  yield* run(`INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, ended_at_ms, status_code, error_code,
    excerpt) VALUES
    ('dlv_again', 3, 5, 6, 500, 'http_status', '"no"'), ('dlv_first', 1, 7, NULL, NULL, NULL, '""'),
    ('dlv_lapsed', 6, 6, 7, NULL, 'timeout', '""'), ('dlv_lapsed', 7, 7, NULL, NULL, NULL, '""'),
    ('dlv_done', 2, 8, 9, 204, NULL, '""')`)
  yield* run("INSERT INTO flyball.sequences VALUES ('whk_a', 3), ('whk_b', 5)")
  yield* run("INSERT INTO flyball.turns VALUES ('whk_a', 12), ('whk_b', 7777)")
  return { run, rows: (sql: string) => ask(database.url, inSchema(sql, schema)) }
})

describe("a store of schema 3", () => {
  it.effect("keeps its pending deliveries, in their state, after the migration", () =>
    Effect.gen(function* () {
      yield* given("owing")
      const { outbox, commit } = yield* openStore({ url: database.url, schema: "owing" })
      const standing = (yield* outbox.deliveriesOf("whk_a", { limit: 9 }))
        .concat(yield* outbox.deliveriesOf("whk_b", { limit: 9 }))
        .map(({ attempts, finishedAtMs, id, leaseUntilMs, nextAttemptAtMs, state }) => [
          id,
          state,
          attempts,
          nextAttemptAtMs,
          leaseUntilMs,
          finishedAtMs
        ])
      assert.deepStrictEqual(standing, [
        ["dlv_later", "pending", 1, LATER, null, null],
        ["dlv_again", "pending", 3, 6, null, null],
        ["dlv_new", "pending", 0, 5, null, null],
        ["dlv_gone", "cancelled", 0, null, null, 9],
        ["dlv_failed", "failed", 7, null, null, 9],
        ["dlv_done", "succeeded", 2, null, null, 9],
        ["dlv_lapsed", "in_flight", 7, null, 8, null],
        ["dlv_first", "in_flight", 1, null, LATER, null]
      ])
      assert.deepStrictEqual(
        (yield* outbox.delivery("dlv_lapsed"))!.attempts.map(({ attempt, endedAtMs, startedAtMs }) => [
          attempt,
          startedAtMs,
          endedAtMs
        ]),
        [
          [6, 6, 7],
          [7, 7, null]
        ]
      )

      const { claimed, lapsed } = yield* outbox.claim({ leaseMs: 1_000, limit: 10, perEndpoint: 2 })
      assert.deepStrictEqual(
        claimed.map(({ delivery }) => [delivery.id, delivery.attempts]),
        [
          ["dlv_new", 1],
          ["dlv_again", 4]
        ]
      )
      assert.deepStrictEqual(
        lapsed.map(({ attempts, id }) => [id, attempts]),
        [["dlv_lapsed", 7]]
      )
      const ended = { endedAtMs: 8, statusCode: null, errorCode: "crashed", responseExcerpt: "" } as const
      yield* commit({
        moves: [{ id: "dlv_lapsed", from: { state: "in_flight", attempts: 7 }, to: { state: "failed" }, ended }]
      })
      const found = yield* outbox.delivery("dlv_lapsed")
      assert.deepStrictEqual(
        [found!.delivery.state, found!.delivery.attempts, found!.attempts.at(-1)],
        ["failed", 7, { attempt: 7, startedAtMs: 7, ...ended }]
      )
    })
  )

  it.effect("keeps the turns of endpoints, and refuses claims by the old version", () =>
    Effect.gen(function* () {
      const { rows, run } = yield* given("turning")
      const store = yield* openStore({ url: database.url, schema: "turning" })
      yield* store.outbox.claim({ leaseMs: 1_000, limit: 1, perEndpoint: 4 })
      assert.deepStrictEqual(
        yield* rows("SELECT turn > 7777 AS behind FROM flyball.turns WHERE endpoint_id = 'whk_a'"),
        [{ behind: true }]
      )
      const old = yield* Effect.flip(run("SELECT 1 FROM flyball.deliveries WHERE state = 1 AND lease_until_ms <= 0"))
      assert.include(JSON.stringify(old), "42703")
      assert.deepStrictEqual(yield* rows("SELECT oldest_writer FROM flyball.head"), [{ oldest_writer: 6 }])
    })
  )

  it.effect("is migrated once, while a process of the old version claims", () =>
    Effect.gen(function* () {
      const { rows, run } = yield* given("between")
      yield* run("BEGIN")
      yield* run(
        "SELECT 1 FROM flyball.deliveries d JOIN flyball.turns t ON t.endpoint_id = d.endpoint_id WHERE d.id = " +
          "'dlv_new' FOR UPDATE OF t"
      )
      const late = yield* Effect.forkChild(Effect.scoped(openStore({ url: database.url, schema: "between" })), {
        startImmediately: true
      })
      // What he takes before the tables are moved is moved with them.
      yield* run(
        "UPDATE flyball.deliveries SET state = 1, attempts = 1, next_at_ms = NULL, lease_until_ms = 1 WHERE id " +
          "= 'dlv_new'"
      )
      yield* run(
        "INSERT INTO flyball.attempts (delivery_id, attempt, started_at_ms, excerpt) VALUES ('dlv_new', 1, 0, '\"\"')"
      )
      yield* run("COMMIT")
      yield* Fiber.join(late)
      assert.deepStrictEqual(
        yield* rows("SELECT delivery_id FROM flyball.in_flight ORDER BY 1"),
        ["dlv_first", "dlv_lapsed", "dlv_new"].map((id) => ({ delivery_id: id }))
      )
    })
  )
})
