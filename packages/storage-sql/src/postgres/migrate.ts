/** Bringing a database to this version's schema, or saying clearly why not. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { inTransaction } from "./in-transaction.ts"
import { answered, inTime } from "./in-time.ts"
import { lockTime, longStatements, type Statements } from "./long-statements.ts"
import type { Migration } from "./migrations.ts"
import { inSchema, latestSchema, migrations, quoted } from "./migrations.ts"
import type { Connections } from "./sessions.ts"

/** The oldest server whose `extract` is exact. Unit: `server_version_num`. */
const oldestServer = 140_000

/**
 * Runs the migrations that are missing, all in one transaction, and answers them.
 *
 * An advisory lock keeps concurrent starts apart: the second finds the work done. Doing it takes as long as it takes
 * while the server says that it does; waiting for a lock, and for a server that is silent, is bounded.
 *
 * - `watch`: another pool of the same server. `known` is replaced by tests only.
 * - Fails: `StorageUnavailable` where the database is newer than this version, too old a server, or not UTF-8.
 */
export const migrate = Effect.fnUntraced(function* (
  pool: Connections,
  watch: Connections,
  schema: string,
  known: ReadonlyArray<Migration> = migrations
) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* reserved(pool)
      if ((yield* answered(requireSchemaOf(connection, schema, known.length), pool.cut)) === known.length) return []
      const statements = yield* longStatements(connection, pool.cut, watch)
      return yield* inTransaction(statements, "BEGIN", runMissing(statements, schema, known))
    })
  )
})

/**
 * Waits until nobody else makes, changes or replaces this schema, and keeps them waiting until the transaction ends.
 */
export const lockMigrations = (connection: Statements, schema: string) =>
  Effect.asVoid(
    connection.query("SELECT pg_advisory_xact_lock(hashtextextended('flyball migrations of ' || $1::text, 0))", [
      schema
    ])
  )

/** Runs the migrations that are missing in a transaction of the caller. */
export const runMissing = Effect.fnUntraced(function* (
  connection: Statements,
  schema: string,
  known: ReadonlyArray<Migration>
) {
  yield* connection.query("SET LOCAL statement_timeout = 0")
  yield* connection.query(`SET LOCAL lock_timeout = '${lockTime}'`)
  yield* lockMigrations(connection, schema)
  const found = yield* schemaOf(connection, schema, known.length)
  if (found === 0) yield* makeHome(connection, schema)
  // Writers take the head before any table. Taken last, a migration and a writer would wait for each other.
  else yield* connection.query(inSchema("SELECT 1 FROM flyball.head FOR UPDATE", schema))
  const missing = known.slice(found)
  for (const { id, name, olderMayRun, statements } of missing) {
    for (const statement of statements) yield* connection.query(inSchema(statement, schema), [], false)
    yield* connection.query(
      inSchema(
        "INSERT INTO flyball.migrations (id, name, at_ms) VALUES ($1::int, $2::text, flyball.flyball_now())",
        schema
      ),
      [id, name]
    )
    if (!olderMayRun) yield* connection.query(inSchema("UPDATE flyball.head SET oldest_writer = $1::int", schema), [id])
  }
  return missing
})

/**
 * The migrations that {@link migrate} would run. Writes nothing.
 *
 * - Fails: as {@link migrate} does.
 */
export const missingMigrations = Effect.fnUntraced(function* (
  pool: Connections,
  schema: string,
  known: ReadonlyArray<Migration> = migrations
) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* reserved(pool)
      return known.slice(yield* answered(requireSchemaOf(connection, schema, known.length), pool.cut))
    })
  )
})

/** A connection until the scope closes. */
const reserved = (pool: Connections) => inTime(() => pool.reserve)

/** Refuses a database that a reader of this version cannot read. Writes nothing. `known` is replaced by tests only. */
export const requireSchema = Effect.fnUntraced(function* (
  pool: Connections,
  schema: string,
  known: ReadonlyArray<Migration> = migrations
): Effect.fn.Return<void, SqlError | StorageUnavailable> {
  const missing = yield* missingMigrations(pool, schema, known)
  if (missing.length === 0) return
  if (missing.length === known.length) {
    return yield* refused(
      `the database has no store in its schema ${schema}, and it was opened for reading only; start the server ` +
        "once, or check the database's address"
    )
  }
  return yield* refused(
    `expected schema ${known.length} in the database, saw ${known.length - missing.length}; run flyball ` +
      "migrate to bring it up to date"
  )
})

/** CREATE SCHEMA needs a privilege on the database even when the schema exists, so read first. */
const makeHome = Effect.fnUntraced(function* (connection: Statements, schema: string) {
  const there = yield* connection.query("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [schema])
  if (there.rows.length === 0) yield* connection.query(`CREATE SCHEMA ${quoted(schema)}`)
  yield* connection.query(
    inSchema(
      "CREATE TABLE flyball.migrations (id integer PRIMARY KEY, name text NOT NULL, at_ms bigint NOT NULL)",
      schema
    )
  )
})

/** The schema number of the database, 0 when there is nothing of ours. */
const schemaOf = Effect.fnUntraced(function* (
  connection: Statements,
  schema: string,
  latest: number
): Effect.fn.Return<number, SqlError | StorageUnavailable> {
  // Not to_regclass: after the wait for the advisory lock it still believes what it saw before.
  const there = yield* connection.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND " +
      "c.relname = 'migrations'",
    [schema]
  )
  if (there.rows.length === 0) return 0
  const { rows } = yield* connection.query(
    inSchema("SELECT coalesce(max(id), 0)::int4 AS id FROM flyball.migrations", schema)
  )
  const found = rows[0]?.["id"] as number
  if (found > latest) return yield* newerSchema(found, latest)
  return found
})

/** The refusal of a database that a newer version has migrated. */
export const newerSchema = (found: number, latest = latestSchema): StorageUnavailable =>
  new StorageUnavailable({
    reason:
      `the database has schema ${found} and this version of Flyball knows ${latest}; use the newer ` +
      "version that migrated it",
    wrote: "no"
  })

/** The schema number of the database, of a server that will do. */
const requireSchemaOf = (
  connection: PgConnection,
  schema: string,
  latest: number
): Effect.Effect<number, SqlError | StorageUnavailable> =>
  Effect.andThen(requireServer(connection), schemaOf(connection, schema, latest))

const requireServer = Effect.fnUntraced(function* (
  connection: PgConnection
): Effect.fn.Return<void, SqlError | StorageUnavailable> {
  const { rows } = yield* connection.query(
    "SELECT current_setting('server_version_num')::int4 AS version, current_setting('server_encoding') AS encoding"
  )
  const { version, encoding } = rows[0] as { readonly version: number; readonly encoding: string }
  if (version < oldestServer)
    return yield* refused(
      `expected Postgres ${oldestServer / 10_000} or newer, saw ${Math.floor(version / 10_000)}; upgrade the server`
    )
  if (encoding !== "UTF8") return yield* refused(`expected a database with encoding UTF8, saw ${encoding}; create one`)
})

const refused = (reason: string): StorageUnavailable => new StorageUnavailable({ reason, wrote: "no" })
