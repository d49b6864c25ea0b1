/**
 * `flyball migrate`: migrates the store, and the retired stores beside it, to this version's schema, or lists the
 * changes.
 */
import {
  migrateRetired,
  migrateStore,
  missingInRetired,
  missingMigrations,
  type PlannedMigration,
  type StoreLocation
} from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import { asStartError } from "../host/open-host.ts"
import { hasStoreFile, prepareStoreFile } from "../host/store-file.ts"
import { storeLocation, storeName } from "../host/store-location.ts"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** Prints one line a schema change, in the order in which they run. */
export const run = command("migrate", async (args) => {
  const { values } = readArguments(args, { "dry-run": { type: "boolean" } })
  const { settings } = settingsOfProcess()
  const store = storeLocation(
    settings,
    "with sqlite::memory: every start creates a new store; there is nothing to migrate"
  )
  const dryRun = values["dry-run"] === true
  if (store.kind === "sqlite" && dryRun) hasStoreFile(store.file)
  if (store.kind === "sqlite" && !dryRun) prepareStoreFile(store.file, false)
  // A running server has the file of its own version: beside it there is nothing to do, and no lock to wait for.
  const isCurrent = store.kind === "sqlite" && !dryRun && (await isMigrated(store))
  const steps = await Effect.runPromise((dryRun || isCurrent ? missingMigrations : migrateStore)(store)).catch(
    (cause: unknown) => Promise.reject(asStartError(settings, cause))
  )
  const retired = await Effect.runPromise((dryRun || isCurrent ? missingInRetired : migrateRetired)(store)).catch(
    (cause: unknown) => Promise.reject(asStartError(settings, cause))
  )
  if (steps.length + retired.length === 0) console.log(`${storeName(store)} has this version's schema: nothing to do.`)
  for (const step of steps) console.log(line(step, store.kind === "sqlite", dryRun))
  for (const { location, steps: beside } of retired) {
    for (const { id, name } of beside)
      console.log(
        `${dryRun ? "Would run" : "Ran"} ${numbered(id)} ${name} in ${retiredPlace(location)}, a retired chain.`
      )
  }
  return exitStatus.ok
})

/** True when a store, and those beside it, have this version's schema. False where that cannot be read. */
const isMigrated = (store: StoreLocation): Promise<boolean> =>
  Effect.runPromise(
    Effect.map(
      Effect.all([missingMigrations(store), missingInRetired(store)]),
      ([own, beside]) => own.length + beside.length === 0
    )
  ).catch(() => false)

const retiredPlace = (location: StoreLocation): string =>
  location.kind === "sqlite" ? location.file : `the schema ${location.schema}`

const numbered = (id: number): string => String(id).padStart(4, "0")

const line = ({ id, name, olderMayRun }: PlannedMigration, oneWriter: boolean, dryRun: boolean): string => {
  const older = oneWriter
    ? "no other process writes a SQLite file"
    : id === 1
      ? "there are none"
      : olderMayRun
        ? "they may keep running"
        : "they stop writing"
  return `${dryRun ? "Would run" : "Ran"} ${numbered(id)} ${name}. Older processes: ${older}.`
}
