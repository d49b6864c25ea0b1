/**
 * Putting a store on Postgres aside and starting again in its place, in one transaction. Decision 0010 of core.
 *
 * The schema gets another name, migrations make a new one, documents are copied, and record 0 is written. The head's
 * table is locked whole before: a writer that
 * has it finishes first; one that comes later waits for the lock, finds the new table under the name, and sees by its
 * object id that the chain it
 * had open is gone. Readers see the old store or the new one.
 */
import type { Head, Retirement, RetirePlan, StorageChoice, StorageOpenFault } from "@flyball/core/storage"
import {
  Entropy,
  instantMs,
  partCount,
  saltBytes,
  SEQUENCES_OF_A_CHAIN,
  StorageUnavailable,
  WEBHOOKS
} from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { admitGroup } from "./admit-group.ts"
import { GroupView } from "./group-view.ts"
import { inTime } from "./in-time.ts"
import { inTransaction } from "./in-transaction.ts"
import { longStatements, type Statements } from "./long-statements.ts"
import { lockMigrations, runMissing } from "./migrate.ts"
import { inSchema, migrations, quoted } from "./migrations.ts"
import { faultOf } from "./postgres-fault.ts"
import { type PreparedChange, prepare } from "./prepare.ts"
import { inRealTime } from "./real-time.ts"
import { openSessions, type PostgresOptions, query } from "./sessions.ts"
import { writesIn } from "./writes.ts"

/** Support for a recovery of a store on Postgres. */
export const postgresRetirement = (
  options: PostgresOptions,
  schema: string,
  choose: (options: PostgresOptions) => StorageChoice
): Retirement => ({
  retire: (plan) => (options.readOnly === true ? Effect.fail(readOnly) : retire(options, schema, plan)),
  retired: openSessions({ ...options, maxConnections: 2, readOnly: true }).pipe(
    Effect.flatMap(({ readers }) => query(readers, retiredSchemas, [schema])),
    Effect.scoped,
    Effect.mapBoth({
      onFailure: (error) => faultOf(error),
      onSuccess: (rows) =>
        rows.map((row) => choose({ ...options, schema: row["name"] as string, maxConnections: 2, readOnly: true }))
    })
  )
})

const readOnly = new StorageUnavailable({
  reason: "it was opened for reading only; open it without `readOnly`",
  wrote: "no"
})

/** Names hold letters, digits and underscores, nothing that means more in a pattern. */
const retiredSchemas = `SELECT nspname::text AS name FROM pg_namespace
  WHERE nspname ~ ('^' || $1::text || '_retired_[1-9][0-9]{0,8}$')
  ORDER BY substring(nspname FROM '[0-9]+$')::int`

/** Longest name that Postgres keeps whole. */
const maxName = 63

const retire = Effect.fnUntraced(function* (
  options: PostgresOptions,
  schema: string,
  plan: RetirePlan
): Effect.fn.Return<void, StorageOpenFault> {
  const change = { expectEmpty: true, records: [plan.genesis] }
  const prepared = prepare(nodeCrypto, change, (yield* Entropy).bytes(partCount(change.records) * saltBytes), null)
  yield* openSessions({ ...options, maxConnections: 2 }).pipe(
    Effect.flatMap(({ readers, writer }) =>
      inRealTime(
        Effect.flatMap(
          inTime(() => readers.reserve),
          (connection) => longStatements(connection, readers.cut, writer)
        )
      )
    ),
    Effect.flatMap((statements) =>
      inRealTime(inTransaction(statements, "BEGIN", replace(statements, schema, plan, prepared)))
    ),
    Effect.scoped,
    // Where COMMIT was not answered nobody knows; recovering again finds out.
    Effect.mapError((error) => (error instanceof SqlError ? faultOf(error, "unknown") : error))
  )
})

const replace = Effect.fnUntraced(function* (
  connection: Statements,
  schema: string,
  plan: RetirePlan,
  prepared: PreparedChange
): Effect.fn.Return<void, SqlError | StorageUnavailable> {
  const run = (sql: string, params: ReadonlyArray<unknown> = []) =>
    Effect.map(connection.query(inSchema(sql, schema), params, false), ({ rows }) => rows)
  yield* run("SET LOCAL lock_timeout = '30s'")
  yield* run("SET LOCAL statement_timeout = 0")
  yield* lockMigrations(connection, schema)
  yield* run("LOCK TABLE flyball.head IN ACCESS EXCLUSIVE MODE")
  yield* requireHead(yield* run("SELECT seq::float8 AS seq, hash FROM flyball.head"), plan.head)
  const retired = yield* nextName(schema, yield* run(retiredSchemas, [schema]))
  yield* run(`ALTER SCHEMA ${quoted(schema)} RENAME TO ${quoted(retired)}`)
  yield* runMissing(connection, schema, migrations)
  for (const sql of carry)
    yield* run(
      sql.replaceAll("retired.", () => `${quoted(retired)}.`),
      [plan.leave]
    )
  for (const sql of [...carrySequences, carryCounters])
    yield* run(sql.replaceAll("retired.", () => `${quoted(retired)}.`))
  const [now] = yield* run("SELECT flyball.flyball_now()::float8 AS ms")
  const { answers, rows } = admitGroup(
    nodeCrypto,
    new GroupView(),
    Math.max(now!["ms"] as number, instantMs(plan.head?.atMs ?? 0)),
    [prepared]
  )
  if (Exit.isFailure(answers[0]!))
    return yield* Effect.die(
      new Error("Record 0 of a new chain was not admitted to an empty store.", { cause: answers[0] })
    )
  for (const { params, sql } of writesIn(schema)({ ...rows, nodes: [] })) yield* connection.query(sql, params, false)
})

const carry = [
  "INSERT INTO flyball.documents (collection, id, version, body) SELECT collection, id, version, body FROM " +
    "retired.documents WHERE collection <> ALL ($1::text[])",
  `INSERT INTO flyball.document_keys (collection, key, value, id, single)
    SELECT collection, key, value, id, single FROM retired.document_keys WHERE collection <> ALL ($1::text[])`
]

const carryCounters = "INSERT INTO flyball.counters (name, value) SELECT name, value FROM retired.counters"

/**
 * Sequences continue behind all that the old chain can have given, also to an endpoint that was owed nothing yet when
 * the copy was made. Decision 0010.
 */
const carrySequences = [
  `INSERT INTO flyball.sequences (endpoint_id, sequence)
    SELECT e.id, (coalesce(s.sequence, 0) / ${SEQUENCES_OF_A_CHAIN} + 1) * ${SEQUENCES_OF_A_CHAIN}
    FROM (SELECT endpoint_id AS id FROM retired.sequences UNION SELECT id FROM retired.documents
    WHERE collection = '${WEBHOOKS}') e LEFT JOIN retired.sequences s ON s.endpoint_id = e.id`,
  "INSERT INTO flyball.turns (endpoint_id, turn) SELECT endpoint_id, 0 FROM flyball.sequences"
]

type Rows = ReadonlyArray<{ readonly [column: string]: unknown }>

const requireHead = ([row]: Rows, head: Head | null): Effect.Effect<void, StorageUnavailable> =>
  row !== undefined &&
  row["seq"] === (head?.seq ?? -1) &&
  (head === null || Buffer.compare(row["hash"] as Uint8Array, head.hash) === 0)
    ? Effect.void
    : Effect.fail(
        new StorageUnavailable({
          reason: "it was written to since the recovery was planned; recover again",
          wrote: "no"
        })
      )

const nextName = (schema: string, rows: Rows): Effect.Effect<string, StorageUnavailable> => {
  const last = /[0-9]+$/.exec(String(rows.at(-1)?.["name"] ?? ""))?.[0] ?? "0"
  const name = `${schema}_retired_${Number(last) + 1}`
  return name.length <= maxName
    ? Effect.succeed(name)
    : Effect.fail(
        new StorageUnavailable({
          reason:
            `${name} is longer than a name of Postgres may be (${maxName} characters); rename the schema ` +
            "to something shorter",
          wrote: "no"
        })
      )
}
