/** Errors of `node:sqlite` as those of the port. */
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { faultOf } from "./sqlite-fault.ts"
import { errorOf } from "./thread/threads.ts"

/** Runs what `node:sqlite` does at once, and says its errors as the port does. What is a bug dies. */
export const trySqlite = <A>(run: () => A): Effect.Effect<A, StorageOpenFault> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return failOrDie(errorOf(faultOf(error)))
    }
  })

/** A fault fails, anything else is a defect. */
export const failOrDie = (error: StorageOpenFault | Error): Effect.Effect<never, StorageOpenFault> =>
  "_tag" in error ? Effect.fail(error) : Effect.die(error)
