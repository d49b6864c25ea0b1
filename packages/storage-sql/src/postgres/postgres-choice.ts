/**
 * The store on Postgres as a choice that costs nothing until it is opened: the client is loaded then, and not by who
 * uses SQLite.
 */
import type { StorageChoice } from "@flyball/core/storage"
import { layerOf, retirementOf, storageChoice, StorageUnavailable } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { optionsProblem } from "./options-problem.ts"
import type { PostgresOptions } from "./sessions.ts"

/**
 * The store in a Postgres database, in a schema of its own.
 *
 * Any number of processes may open the same one. Opening brings the schema up to date, unless it is for reading only.
 *
 * - Fails, when it is opened: `StorageUnavailable`, also where an option is not what it should be; through the plain
 *   client that is `invalid_option`.
 * - Spec: decision 0005; docs/what-is-fast.md.
 */
export const postgresStorage = (options: PostgresOptions): StorageChoice => {
  const problem = optionsProblem(options)
  const loaded =
    problem === null
      ? Effect.map(
          Effect.promise(() => import("./postgres-storage.ts")),
          ({ loadedPostgresStorage }) => loadedPostgresStorage(options)
        )
      : Effect.fail(new StorageUnavailable({ reason: problem, wrote: "no" }))
  const choice = storageChoice(
    "postgres",
    Layer.unwrap(Effect.map(loaded, layerOf)),
    {
      retire: (plan) => Effect.flatMap(loaded, (choice) => retirementOf(choice)!.retire(plan)),
      retired: Effect.flatMap(loaded, (choice) => retirementOf(choice)!.retired)
    },
    problem
  )
  return { ...choice, readOnly: options?.readOnly === true }
}
