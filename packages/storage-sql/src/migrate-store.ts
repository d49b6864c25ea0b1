/** Bringing a store to this version's schema without opening it for anything else. */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { migrate as migratePostgres, missingMigrations as missingInPostgres } from "./postgres/migrate.ts"
import type { Migration } from "./postgres/migrations.ts"
import { migrations as postgresMigrations } from "./postgres/migrations.ts"
import { schemaOf } from "./sqlite/migrate.ts"
import type { SqliteMigration } from "./sqlite/migrations.ts"
import { migrations as sqliteMigrations } from "./sqlite/migrations.ts"
import { openForWriting } from "./sqlite/open-database.ts"
import type { StoreLocation } from "./store-location.ts"
import { withPostgres } from "./store-location.ts"
import { trySqlite } from "./sqlite/try-sqlite.ts"

/** A schema change as an operator needs to know it. */
export interface PlannedMigration {
  readonly id: number
  readonly name: string
  /** True when processes of the version before may continue writing. On SQLite no other process writes. */
  readonly olderMayRun: boolean
}

/** The schema changes that a version knows. Tests put one of tomorrow behind them. */
export interface KnownMigrations {
  readonly sqlite: ReadonlyArray<SqliteMigration>
  readonly postgres: ReadonlyArray<Migration>
}

const shipped: KnownMigrations = { sqlite: sqliteMigrations, postgres: postgresMigrations }

/** How long to wait for another process that is just closing the file. Unit: milliseconds. */
const busyTimeoutMs = 1000

/**
 * The schema changes that a store lacks; all of them where there is no store yet. Changes nothing and makes no file.
 *
 * - Fails: `StorageUnavailable` where the store is newer than this version, of another program, or cannot be reached.
 */
export const missingMigrations = (
  store: StoreLocation,
  known: KnownMigrations = shipped
): Effect.Effect<ReadonlyArray<PlannedMigration>, StorageOpenFault> =>
  store.kind === "postgres"
    ? Effect.map(
        withPostgres(store, true, (pool, schema) => missingInPostgres(pool, schema, known.postgres)),
        (found) => found.map(planned)
      )
    : trySqlite(() => known.sqlite.slice(sqliteSchema(store.file, known.sqlite.length)).map(planned))

/**
 * Runs the schema changes that a store lacks, and answers them. A store that does not exist is made, without a chain.
 *
 * - Fails: as {@link missingMigrations} does, and where another process has the SQLite file open for writing.
 */
export const migrateStore = (
  store: StoreLocation,
  known: KnownMigrations = shipped
): Effect.Effect<ReadonlyArray<PlannedMigration>, StorageOpenFault> =>
  store.kind === "postgres"
    ? Effect.map(
        withPostgres(store, false, (pool, schema, watch) => migratePostgres(pool, watch, schema, known.postgres)),
        (run) => run.map(planned)
      )
    : trySqlite(() => {
        const { close, migrated } = openForWriting(store.file, busyTimeoutMs, known.sqlite)
        close()
        return migrated.map(planned)
      })

const planned = (step: Migration | SqliteMigration): PlannedMigration => ({
  id: step.id,
  name: step.name,
  olderMayRun: "olderMayRun" in step && step.olderMayRun
})

/**
 * The schema number of a store's SQLite file, 0 if it does not exist. Makes nothing.
 *
 * - Fails: as {@link missingMigrations} does.
 */
export const fileSchema = (file: string): Effect.Effect<number, StorageOpenFault> =>
  trySqlite(() => sqliteSchema(file, sqliteMigrations.length))

const sqliteSchema = (file: string, latest: number): number => {
  if (!existsSync(file)) return 0
  const db = openUntouched(file)
  try {
    return schemaOf(db, latest)
  } finally {
    db.close()
  }
}

/**
 * Opens a file so that none is made beside it.
 *
 * SQLite makes `-wal` and `-shm` even for a reader, unless the file is opened as immutable. Where there is a log
 * another process may change the file, and then both files exist.
 */
const openUntouched = (file: string): DatabaseSync => {
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0)
    return new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs })
  const url = pathToFileURL(resolve(file))
  url.searchParams.set("immutable", "1")
  return new DatabaseSync(url, { readOnly: true })
}
