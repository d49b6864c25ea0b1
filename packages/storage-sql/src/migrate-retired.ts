/**
 * Bringing retired stores to this version's schema, so that they can be read, backed up and exported.
 * Decision 0010 of core.
 *
 * Records, hashes and signatures stay the bytes they are; what a schema change touches is how they are kept. A SQLite
 * file is read by others as one that never changes,
 * so a copy is changed and takes its name: a crash leaves the old file or the new one, whole, and at most an unfinished
 * copy that the next attempt throws away.
 */
import { chmodSync, copyFileSync, realpathSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { syncPath } from "./sqlite/durable-file.ts"
import { retiredLocation, retiredLocations } from "./copy/retired-locations.ts"
import { type KnownMigrations, migrateStore, missingMigrations, type PlannedMigration } from "./migrate-store.ts"
import { lockForWriting } from "./sqlite/open-database.ts"
import { trySqlite } from "./sqlite/try-sqlite.ts"
import type { StoreLocation } from "./store-location.ts"

/** A retired store, and the schema changes that it lacks or that were run. */
export interface RetiredMigration {
  readonly location: StoreLocation
  readonly steps: ReadonlyArray<PlannedMigration>
}

const busyTimeoutMs = 1000

/** The retired stores beside this one that lack schema changes, oldest first. Changes nothing. Spec: decision 0010. */
export const missingInRetired = (
  store: StoreLocation,
  known?: KnownMigrations
): Effect.Effect<ReadonlyArray<RetiredMigration>, StorageOpenFault> =>
  Effect.gen(function* () {
    const found: Array<RetiredMigration> = []
    for (const { location, number } of yield* retiredLocations(store)) {
      const plain: StoreLocation =
        store.kind === "sqlite" ? retiredLocation({ ...store, file: realpathSync(store.file) }, number) : location
      const steps = yield* missingMigrations(plain, known)
      if (steps.length > 0) found.push({ location: plain, steps })
    }
    return found
  })

/**
 * Runs the schema changes that retired stores beside this one lack, and answers them.
 *
 * - Fails: as `migrateStore` does, and where another process has the SQLite file of the store in use open for writing.
 * - Spec: decision 0010.
 */
export const migrateRetired = (
  store: StoreLocation,
  known?: KnownMigrations
): Effect.Effect<ReadonlyArray<RetiredMigration>, StorageOpenFault> =>
  Effect.gen(function* () {
    const found = yield* missingInRetired(store, known)
    if (found.length === 0) return found
    if (store.kind === "postgres")
      return yield* Effect.forEach(found, ({ location }) =>
        Effect.map(migrateStore(location, known), (steps) => ({ location, steps }))
      )
    // Held to the end: two that migrate at once would make one copy.
    const held = Effect.acquireRelease(
      trySqlite(() => lockForWriting(store.file, busyTimeoutMs)),
      (lock) => Effect.sync(() => lock.close())
    )
    return yield* Effect.scoped(
      Effect.andThen(
        held,
        Effect.forEach(found, ({ location }) =>
          Effect.map(migrateFile(location.kind === "sqlite" ? location.file : "", known), (steps) => ({
            location,
            steps
          }))
        )
      )
    )
  })

const migrateFile = Effect.fnUntraced(function* (file: string, known: KnownMigrations | undefined) {
  const copy = `${file}.migrating`
  const discard = (): void => {
    for (const name of [copy, `${copy}-wal`, `${copy}-shm`, `${copy}.lock`]) rmSync(name, { force: true })
  }
  yield* trySqlite(() => {
    discard()
    copyFileSync(file, copy)
    chmodSync(copy, 0o600)
  })
  const steps = yield* migrateStore({ kind: "sqlite", file: copy }, known)
  yield* trySqlite(() => {
    // Closing it copied its log back.
    chmodSync(copy, 0o400)
    syncPath(copy)
    renameSync(copy, file)
    syncPath(dirname(file))
    discard()
  })
  return steps
})
