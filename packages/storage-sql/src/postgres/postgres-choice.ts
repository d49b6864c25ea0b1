/** The store on Postgres as a choice that costs nothing until it is opened: the client is loaded then, and not by who uses SQLite. */
import type { StorageChoice } from "@flyball/core/storage"
import { layerOf, retirementOf, storageChoice } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import type { PostgresOptions } from "./sessions.ts"

/**
 * The store in a Postgres database, in a schema of its own.
 *
 * Any number of processes may open the same one. Opening brings the schema up to date, unless it is for reading only.
 */
export const postgresStorage = (options: PostgresOptions): StorageChoice => {
  const loaded = Effect.map(Effect.promise(() => import("./postgres-storage.ts")), ({ loadedPostgresStorage }) => loadedPostgresStorage(options))
  return storageChoice("postgres", Layer.unwrap(Effect.map(loaded, layerOf)), {
    retire: (plan) => Effect.flatMap(loaded, (choice) => retirementOf(choice)!.retire(plan)),
    retired: Effect.flatMap(loaded, (choice) => retirementOf(choice)!.retired)
  })
}
