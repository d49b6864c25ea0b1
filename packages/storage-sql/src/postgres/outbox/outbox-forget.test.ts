import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inSchema } from "../migrations.ts"
import { forgetTexts } from "./outbox-forget.ts"
import { ask, connect, givenDatabase, openStore } from "../testing/given-database.ts"

const database = givenDatabase()
const LIMIT = "8"
const FAR = "~"

/** Pages that one step of each query reads, planned as readers have it: with literal numbers. */
const pagesOf = Effect.fnUntraced(function* (schema: string) {
  const connection = yield* connect(database.url)
  for (const name of ["seqscan", "hashjoin", "mergejoin"])
    yield* connection.query(`SET enable_${name} = off`, [], false)
  const pages: { [name: string]: number } = {}
  for (const [name, sql, params] of [
    ["missed", forgetTexts.missed, ["", "", "0", LIMIT, ["thing.made"], "whk_1", null]],
    ["deliveries kept", forgetTexts.deliveries, ["", FAR, LIMIT, "0"]],
    ["deliveries gone", forgetTexts.deliveries, ["", FAR, LIMIT, "9000000000000"]],
    // Their own deliveries are gone now; what was owed once more is there.
    ["events kept", forgetTexts.events, ["", FAR, LIMIT, "9000000000000"]],
    ["events gone", forgetTexts.deleteEvents, [["evt_000000001aaaaaaaaaaaaaaaaa", "evt_000000002aaaaaaaaaaaaaaaaa"]]]
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
    pages[name] = Plan!["Shared Hit Blocks"]! + Plan!["Shared Read Blocks"]!
  }
  return pages
})

/** Events, each with a delivery of its commit, and one for each that was owed once more much later. */
const given = Effect.fnUntraced(function* (schema: string, many: number) {
  yield* Effect.scoped(openStore({ url: database.url, schema }))
  const id = (prefix: string, number: string) => `'${prefix}_' || lpad((${number})::text, 9, '0') || repeat('a', 17)`
  yield* ask(
    database.url,
    `INSERT INTO ${schema}.events (id, type, at_ms, seq, hash, data) SELECT ${id("evt", "n")}, 'thing.made', ` +
      `n, 0, '', '{}' FROM generate_series(1, ${many}) n`
  )
  const insert =
    `INSERT INTO ${schema}.deliveries (id, event_id, endpoint_id, sequence, state, attempts, ` +
    "created_at_ms, finished_at_ms)"
  yield* ask(
    database.url,
    `${insert} SELECT ${id("dlv", "n")}, ${id("evt", "n")}, 'whk_1', n, 3, 7, n, n FROM generate_series(1, ${many}) n`
  )
  yield* ask(
    database.url,
    `${insert} SELECT ${id("dlv", "n + 1000000")}, ${id("evt", "n")}, 'whk_1', n + 1000000, 2, 1, n, n FROM ` +
      `generate_series(1, ${many}) n`
  )
  return yield* pagesOf(schema)
})

describe("the cost of forgetting, and of searching for missed events", () => {
  it.effect("does not grow with the number of events kept", () =>
    Effect.gen(function* () {
      const few = yield* given("few", 10)
      const many = yield* given("many", 20_000)
      // Indexes are a level or two deeper; nothing else.
      for (const [name, pages] of Object.entries(many))
        assert.isAtMost(pages, 3 * few[name]!, `${name}: ${JSON.stringify({ few, many })}`)
    })
  )
})
