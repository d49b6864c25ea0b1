import { assert, describe, it } from "@effect/vitest"
import type { ClaimRequest, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { claimTexts } from "./claims.ts"
import { inSchema } from "../migrations.ts"
import { claimerSettings } from "../sessions.ts"
import { ask, connect, givenDatabase, openStore, until } from "../testing/given-database.ts"

const database = givenDatabase()
const cap = 5
const request: ClaimRequest = { leaseMs: 60_000, limit: 8, perEndpoint: cap }

/** An endpoint that wants the events of its own type. */
const endpoint = (id: string) => ({
  collection: "webhooks",
  id,
  expectedVersion: 0,
  body: {},
  keys: { [`on:for.${id}`]: "yes" }
})
const tell = (id: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ type: `for.${id}`, data: { n } }))
const ended = { endedAtMs: 1, statusCode: 200, errorCode: null, responseExcerpt: "" }

describe("two stores that claim from one outbox", () => {
  it.effect("take each delivery once, within each endpoint's limit in flight, while commits add and finish some", () =>
    Effect.gen(function* () {
      const stores = [
        yield* openStore({ url: database.url, schema: "race" }),
        yield* openStore({ url: database.url, schema: "race" })
      ] as const
      yield* stores[0].commit({ puts: ["a", "b", "c"].map(endpoint) })
      const inFlight: { [id: string]: number } = {}
      const taken: Array<string> = []
      const send = Effect.fnUntraced(function* (store: StorageApi) {
        while (taken.length < 300) {
          const { claimed } = yield* store.outbox.claim(request)
          for (const {
            delivery: { endpointId, id }
          } of claimed) {
            taken.push(id)
            inFlight[endpointId] = (inFlight[endpointId] ?? 0) + 1
            assert.isAtMost(inFlight[endpointId]!, cap)
          }
          // Others claim meanwhile. Counted as gone before it is said to be: another may learn of it before we do.
          yield* store.outbox.event("evt_none")
          for (const { delivery } of claimed) inFlight[delivery.endpointId]! -= 1
          yield* store.commit({
            moves: claimed.map(({ delivery }) => ({
              id: delivery.id,
              from: { state: "in_flight", attempts: 1 },
              to: { state: "succeeded" },
              ended
            }))
          })
        }
      })
      const add = Effect.forEach(Array.from({ length: 20 }), () =>
        stores[1].commit({ events: [...tell("a", 10), ...tell("b", 4), ...tell("c", 1)] })
      )
      yield* Effect.all([send(stores[0]), send(stores[0]), send(stores[1]), send(stores[1]), add], {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(taken).size, 300)
      assert.strictEqual(taken.length, 300)
      for (const [id, count] of [
        ["a", 200],
        ["b", 80],
        ["c", 20]
      ] as const) {
        const owed = yield* stores[0].outbox.deliveriesOf(id, { limit: 1000 })
        assert.deepStrictEqual(
          owed.map(({ sequence, state }) => [sequence, state]),
          Array.from({ length: count }, (_, n) => [count - n, "succeeded"])
        )
      }
    })
  )

  it.effect("do not wait for each other, and commits do not wait for them", () =>
    Effect.gen(function* () {
      const store = yield* openStore({ url: database.url, schema: "waits" })
      yield* store.commit({ puts: ["a", "b"].map(endpoint), events: [...tell("a", 3), ...tell("b", 3)] })
      const holder = yield* connect(database.url)
      yield* holder.query("BEGIN")
      // As another process that claims, and stands still before it commits.
      yield* holder.query("SELECT 1 FROM waits.turns WHERE endpoint_id = 'a' FOR UPDATE")
      yield* holder.query(
        "INSERT INTO waits.in_flight SELECT endpoint_id, sequence, delivery_id, 1, 0, 1 FROM waits.pending " +
          "WHERE endpoint_id = 'a' AND sequence = 1"
      )
      yield* holder.query("DELETE FROM waits.pending WHERE endpoint_id = 'a' AND sequence = 1")
      const { claimed, nextAtMs } = yield* store.outbox.claim(request)
      assert.deepStrictEqual(
        claimed.map(({ delivery }) => delivery.endpointId),
        ["b", "b", "b"]
      )
      assert.isNotNull(nextAtMs, "what is due to the other endpoint is to be claimed again")
      yield* store.commit({
        events: tell("a", 1),
        moves: claimed.map(({ delivery }) => ({
          id: delivery.id,
          from: { state: "in_flight", attempts: 1 },
          to: { state: "succeeded" },
          ended
        }))
      })
      yield* holder.query("ROLLBACK")
      assert.deepStrictEqual(
        (yield* store.outbox.claim(request)).claimed.map(({ delivery }) => delivery.sequence),
        [1, 2, 3, 4]
      )
    })
  )
})

describe("the cost of a claim", () => {
  /** Pages that the statements of one claim read. */
  const pagesOf = Effect.fnUntraced(function* (schema: string) {
    const connection = yield* connect(database.url)
    for (const [name, value] of Object.entries(claimerSettings))
      yield* connection.query(`SET ${name} = '${value}'`, [], false)
    const home = String((yield* connection.query(`SELECT tableoid::int4 AS home FROM ${schema}.head`)).rows[0]!["home"])
    let pages = 0
    for (const [sql, params] of [
      [claimTexts.lock, [String(cap), "8", home, "9"]],
      [claimTexts.take, [String(cap), "8", "60000"]],
      [claimTexts.survey, ["9"]]
    ] as const) {
      const { rows } = yield* connection.query(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${inSchema(sql, schema)}`,
        params,
        false
      )
      const plan = rows[0]!["QUERY PLAN"]
      const { Plan } = (
        typeof plan === "string"
          ? (JSON.parse(plan) as ReadonlyArray<Record<string, Record<string, number>>>)
          : (plan as ReadonlyArray<Record<string, Record<string, number>>>)
      )[0]!
      pages += Plan!["Shared Hit Blocks"]! + Plan!["Shared Read Blocks"]!
    }
    return pages
  })

  const given = Effect.fnUntraced(function* (schema: string, many: number) {
    yield* Effect.scoped(openStore({ url: database.url, schema }))
    const insert =
      `INSERT INTO ${schema}.deliveries (id, event_id, endpoint_id, sequence, state, attempts, ` +
      "created_at_ms, next_at_ms, finished_at_ms)"
    yield* ask(
      database.url,
      `INSERT INTO ${schema}.events (id, type, at_ms, seq, hash, data) VALUES ('evt_1', 'thing.made', 0, 0, '', '{}')`
    )
    yield* ask(database.url, `INSERT INTO ${schema}.turns SELECT 'whk_' || n, 0 FROM generate_series(1, 3) n`)
    yield* ask(
      database.url,
      `${insert} SELECT 'due ' || e || ' ' || n, 'evt_1', 'whk_' || e, n, 0, 0, 0, 0, NULL FROM ` +
        "generate_series(1, 2) e, generate_series(1, 20) n"
    )
    yield* ask(
      database.url,
      `${insert} SELECT 'blocked ' || n, 'evt_1', 'whk_3', n, 0, n % 2, 0, n, NULL FROM generate_series(1, ${many}) n`
    )
    yield* ask(
      database.url,
      `${insert} SELECT 'later ' || n, 'evt_1', 'whk_1', 100 + n, 0, 1, 0, 9000000000000 + n, NULL FROM ` +
        `generate_series(1, ${many}) n`
    )
    yield* ask(
      database.url,
      `INSERT INTO ${schema}.pending SELECT endpoint_id, next_at_ms, sequence, id, event_id, attempts, 0 FROM ` +
        `${schema}.deliveries`
    )
    yield* ask(
      database.url,
      `${insert} SELECT 'flies ' || n, 'evt_1', 'whk_3', -n, 0, 0, 0, 0, NULL FROM generate_series(1, ${cap}) n`
    )
    yield* ask(
      database.url,
      `INSERT INTO ${schema}.in_flight SELECT 'whk_3', -n, 'flies ' || n, 1, 0, 9000000000000 FROM ` +
        `generate_series(1, ${cap}) n`
    )
    yield* ask(
      database.url,
      `${insert} SELECT 'done ' || n, 'evt_1', 'whk_2', 100 + n, 2, 1, 0, NULL, n FROM generate_series(1, ${many}) n`
    )
  })

  it.effect("does not grow with deliveries that are finished, not due yet, or waiting behind a cap", () =>
    Effect.gen(function* () {
      yield* given("few", 10)
      yield* given("many", 10_000)
      // Indexes are one level deeper, nothing else.
      assert.isAtMost(yield* pagesOf("many"), 2 * (yield* pagesOf("few")))
    })
  )

  it.effect("grows little with rows deleted since the last vacuum, once a claim has scanned them", () =>
    Effect.gen(function* () {
      yield* given("gone", 10)
      const before = yield* pagesOf("gone")
      yield* ask(
        database.url,
        "INSERT INTO gone.in_flight SELECT 'whk_' || 1 + n % 2, 200000 + n, 'was ' || n, 1, 0, 1 FROM " +
          "generate_series(1, 10000) n"
      )
      yield* ask(database.url, "DELETE FROM gone.in_flight WHERE lease_until_ms = 1")
      // For as long as a snapshot is older than the deletion, an ANALYZE of autovacuum's perhaps, a walk cannot mark
      // what is gone: then the next one does.
      let walks = 200
      yield* until(
        "pages are free again",
        Effect.scoped(Effect.map(pagesOf("gone"), (pages) => pages <= 2 * before || --walks === 0))
      )
      // Pages of the indexes hold what is gone until the next vacuum; rows of the table are not read again.
      assert.isAtMost(yield* pagesOf("gone"), 2 * before)
    })
  )
})
