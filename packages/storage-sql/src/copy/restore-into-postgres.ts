/** A backup's file as the store in a Postgres schema. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { StorageOpenFault } from "@flyball/core/storage"
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { migrate } from "../postgres/migrate.ts"
import { inSchema } from "../postgres/migrations.ts"
import { openForReading } from "../sqlite/open-database.ts"
import type { PostgresLocation } from "../store-location.ts"
import { trySqlite } from "../sqlite/try-sqlite.ts"
import { inTransaction } from "../postgres/in-transaction.ts"
import { withPostgres } from "../store-location.ts"
import { writePostgresPage } from "./postgres-target.ts"
import type { Page, RecordRow } from "./rows.ts"
import { sqlitePages } from "./sqlite-source.ts"

/** Selects whether anything is in the store. Read under the head's lock, which every writer takes first. */
const holdings = `SELECT (SELECT seq FROM flyball.head FOR UPDATE) >= 0 OR EXISTS (SELECT 1 FROM flyball.records)
  OR EXISTS (SELECT 1 FROM flyball.parts)
  OR EXISTS (SELECT 1 FROM flyball.once) OR EXISTS (SELECT 1 FROM flyball.nodes) OR EXISTS (SELECT 1
  FROM flyball.documents)
  OR EXISTS (SELECT 1 FROM flyball.document_keys) OR EXISTS (SELECT 1 FROM flyball.events)
  OR EXISTS (SELECT 1 FROM flyball.sequences) AS held`

/**
 * Copies `from` into the schema, which is made if it is missing, in one transaction.
 *
 * - Fails: `StorageUnavailable` where the schema holds anything, or the file has another schema number than this
 *   version's.
 */
export const restoreIntoPostgres = (from: string, location: PostgresLocation): Effect.Effect<void, StorageOpenFault> =>
  withPostgres(location, false, (pool, schema, watch) =>
    Effect.scoped(
      Effect.gen(function* () {
        const source = yield* Effect.acquireRelease(
          trySqlite(() => openForReading(from, 0)),
          (db) => Effect.sync(() => db.close())
        )
        yield* migrate(pool, watch, schema)
        const connection = yield* pool.reserve
        yield* inTransaction(
          connection,
          "BEGIN",
          Effect.gen(function* () {
            yield* connection.query("SET LOCAL statement_timeout = 0")
            const { rows } = yield* connection.query(inSchema(holdings, schema))
            if (rows[0]?.["held"] !== false) {
              return yield* new StorageUnavailable({
                reason:
                  `the database's schema ${schema} holds a store already; name an empty database, or ` +
                  "move that schema away",
                wrote: "no"
              })
            }
            yield* writeAll(connection, schema, sqlitePages(source))
          })
        )
      })
    )
  )

const writeAll = Effect.fnUntraced(function* (
  connection: PgConnection,
  schema: string,
  pages: Generator<Page>
): Effect.fn.Return<void, SqlError | StorageOpenFault> {
  let last: RecordRow | undefined
  for (;;) {
    const next = yield* trySqlite(() => pages.next())
    if (next.done === true) break
    const page = next.value
    const written = yield* writePostgresPage(connection, schema, page)
    if (written !== page.rows.length)
      return yield* new StorageCorrupt({
        reason: `expected ${page.rows.length} rows of ${page.table} to be whole, saw ${written}`
      })
    if (page.table === "records") last = page.rows.at(-1)
  }
  if (last === undefined) return
  yield* connection.query(
    inSchema("UPDATE flyball.head SET seq = $1::int8, hash = $2::bytea, at_ms = $3::int8", schema),
    [String(last.seq), last.hash, String(last.atMs)]
  )
})
