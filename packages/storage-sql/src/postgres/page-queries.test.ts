/** Rows that Postgres reads for a page, counted by EXPLAIN. */
import { assert, describe, it } from "@effect/vitest"
import type { KeyRange, RecordQuery } from "@flyball/core/storage"
import { Effect } from "effect"
import { type PageQuery, rangeQuery, recordsQuery } from "./page-queries.ts"
import { connect, givenDatabase, openStore } from "./testing/given-database.ts"

const database = givenDatabase()

const LENGTH = 20_000
const LIMIT = 20
/** Entries of indexes and rows that a page may read: each row is found by an index and read once. */
const MOST = 4 * LIMIT

const connected = Effect.map(
  Effect.suspend(() => connect(database.url)),
  (connection) => (sql: string) => Effect.map(connection.query(sql, [], false), ({ rows }) => rows)
)

/** A chain of evaluations of three agents in turn, with a halt and a review of one of them near its begin. */
const fill = Effect.gen(function* () {
  yield* openStore({ url: database.url })
  const run = yield* connected
  yield* run(`INSERT INTO flyball.records (seq, at_ms, kind, agent_id, hash, bytes)
    SELECT n, n, CASE n WHEN 5 THEN 'kill.activated' WHEN 7 THEN 'review.opened' ELSE 'evaluation.made' END,
      'agt_' || n % 3, '', '' FROM generate_series(0, ${LENGTH - 1}) n`)
  yield* run(`INSERT INTO flyball.documents (collection, id, version, body)
    SELECT 'things', 't' || n, 1, '{}' FROM generate_series(1, ${LENGTH}) n`)
  yield* run(`INSERT INTO flyball.document_keys (collection, key, value, id, single)
    SELECT 'things', 'rank', lpad(n::text, 9, '0'), 't' || n, false FROM generate_series(1, ${LENGTH}) n`)
  yield* run("VACUUM ANALYZE flyball.records")
  yield* run("VACUUM ANALYZE flyball.document_keys")
  yield* run("ANALYZE flyball.documents")
})
let filled: Promise<void> | undefined
const given = Effect.promise(() => (filled ??= Effect.runPromise(Effect.scoped(fill))))

const literal = (value: unknown): string =>
  Array.isArray(value) ? `ARRAY[${value.map(literal).join()}]` : `'${String(value)}'`

interface PlanNode {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** Rows of tables and of indexes that a plan read. */
const rowsRead = (node: PlanNode): number =>
  (/Scan/.test(node["Node Type"]) && !/Subquery|Function/.test(node["Node Type"])
    ? (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
    : 0) + (node.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0)

/** Times that Postgres plans for the parameters before it considers a plan for any. */
const PLANNED_ALONE = 5

/** Rows that each of several runs reads, also of those for which Postgres may keep one plan. */
const counted = Effect.fnUntraced(function* ({ params, sql }: PageQuery) {
  yield* given
  const run = yield* connected
  const counts: Array<number> = []
  yield* run(`PREPARE page AS ${sql}`)
  for (let times = 0; times < PLANNED_ALONE + 2; times++) {
    const [row] = yield* run(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page (${params.map(literal).join()})`)
    const found = row!["QUERY PLAN"]
    const [{ Plan }] = (typeof found === "string" ? JSON.parse(found) : found) as [{ readonly Plan: PlanNode }]
    counts.push(rowsRead(Plan))
  }
  return counts
}, Effect.scoped)

const records: ReadonlyArray<Omit<RecordQuery, "limit">> = [
  {},
  { from: 500 },
  { agentId: "agt_1" },
  { agentId: "agt_1", to: 15_000 },
  { agentId: "agt_none" },
  { kinds: ["kill.activated"] },
  { kinds: ["kill.activated", "kill.released", "review.opened"] },
  { kinds: ["evaluation.made", "kill.activated"] },
  { kinds: ["never.written"] },
  { kinds: ["review.opened"], agentId: "agt_1" },
  { kinds: ["review.opened"], agentId: "agt_2" },
  { kinds: ["kill.activated"], from: 6 },
  { kinds: ["kill.activated"], to: 4 }
]

const ranges: ReadonlyArray<Omit<KeyRange, "limit">> = [
  {},
  { after: "000000500" },
  { before: "000019000" },
  { after: "000000500", before: "000000502" },
  { after: "1" }
]

describe("a page on Postgres", () => {
  it.live("of records reads as many rows as it answers, of each kind and agent, both ways", () =>
    Effect.gen(function* () {
      for (const query of records)
        for (const order of ["asc", "desc"] as const)
          for (const count of yield* counted(recordsQuery({ ...query, order, limit: LIMIT })))
            assert.isAtMost(count, MOST, `${JSON.stringify(query)} ${order}`)
    })
  )

  it.live("of a look-up key reads as many rows as it answers, both ways", () =>
    Effect.gen(function* () {
      for (const range of ranges)
        for (const order of ["asc", "desc"] as const)
          for (const count of yield* counted(rangeQuery("things", "rank", { ...range, order, limit: LIMIT })))
            assert.isAtMost(count, MOST, `${JSON.stringify(range)} ${order}`)
    })
  )
})
