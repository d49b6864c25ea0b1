/**
 * Copies a whole store of any backend into one SQLite file and back. Backups use it.
 *
 * Copied byte for byte: records, parts with their salts, erased parts, idempotency keys (erased ones too), tree hashes,
 * documents with keys and versions, counters, the outbox. Not copied: leases, rate limits and permits.
 *
 * Spec: design section 4, "Backup is online"; decision 0012.
 */
import { existsSync, rmSync } from "node:fs"
import type { StorageOpenFault } from "@flyball/core/storage"
import { StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import { requireSchema } from "../postgres/migrate.ts"
import type { PostgresLocation, StoreLocation } from "../store-location.ts"
import { trySqlite } from "../sqlite/try-sqlite.ts"
import { inTransaction } from "../postgres/in-transaction.ts"
import { withPostgres } from "../store-location.ts"
import { NewSqliteFile } from "./new-sqlite-file.ts"
import { eachPostgresPage } from "./postgres-source.ts"
import { restoreIntoFile } from "./restore-into-file.ts"
import { restoreIntoPostgres } from "./restore-into-postgres.ts"
import { vacuumInto } from "./vacuum-into.ts"

/**
 * Copies a store as it is at one moment into a new SQLite file, while another process may write it. The file is durable
 * when this succeeds, and gone when it fails.
 *
 * - Fails: `StorageUnavailable`, also when `file` exists already; `StorageCorrupt` where the store is damaged.
 * - Spec: decision 0012.
 */
export const copyToFile = (store: StoreLocation, file: string): Effect.Effect<void, StorageOpenFault> =>
  Effect.suspend(() => {
    if (existsSync(file))
      return Effect.fail(new StorageUnavailable({ reason: `${file} exists already; name another file`, wrote: "no" }))
    return (store.kind === "sqlite" ? vacuumInto(store.file, file) : postgresToFile(store, file)).pipe(
      Effect.onError(() => Effect.sync(() => rmSync(file, { force: true })))
    )
  })

/**
 * Copies a file that {@link copyToFile} made into a store that holds nothing, all or nothing.
 *
 * - SQLite: there must be no file of that name but an empty one, nor a log of one. Postgres: the schema is made if it
 *   is missing, and must be empty.
 * - Fails: `StorageUnavailable`; `StorageCorrupt` where the file is damaged.
 * - Spec: decision 0012.
 */
export const copyFromFile = (file: string, store: StoreLocation): Effect.Effect<void, StorageOpenFault> =>
  store.kind === "sqlite" ? restoreIntoFile(file, store.file) : restoreIntoPostgres(file, store)

/** One REPEATABLE READ transaction, so that all tables are of one moment; it blocks nobody. */
const postgresToFile = (location: PostgresLocation, file: string): Effect.Effect<void, StorageOpenFault> =>
  withPostgres(location, true, (pool, schema) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* requireSchema(pool, schema)
        const connection = yield* pool.reserve
        const target = yield* Effect.acquireRelease(
          trySqlite(() => new NewSqliteFile(file)),
          (made) => Effect.sync(() => made.abandon())
        )
        const snapshot = eachPostgresPage(connection, schema, (page) => trySqlite(() => target.write(page)))
        yield* inTransaction(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", snapshot)
        yield* trySqlite(() => target.finish())
      })
    )
  )
