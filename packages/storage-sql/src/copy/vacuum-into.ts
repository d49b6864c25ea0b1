/** Copying a SQLite store beside its writer, in a thread of its own: the host must not stop for it. */
import { Worker } from "node:worker_threads"
import { StorageUnavailable, type StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import type { Fault } from "../sqlite/answers.ts"
import { errorOf } from "../sqlite/thread/threads.ts"
import { failOrDie } from "../sqlite/try-sqlite.ts"
import { threadModule } from "../thread-module.ts"
import type { VacuumTask } from "./vacuum-worker.ts"

/**
 * Copies the store in `file`, as it is at one moment, into the new file `to`. It cannot be interrupted: it ends when
 * the copy does.
 *
 * - Fails: `StorageUnavailable`, `StorageCorrupt`, as opening the file for reading does.
 */
export const vacuumInto = (file: string, to: string): Effect.Effect<void, StorageOpenFault> =>
  Effect.uninterruptible(
    Effect.callback<void, StorageOpenFault>((resume) => {
      const task: VacuumTask = { file, to }
      const worker = new Worker(new URL(threadModule("vacuum-worker", import.meta.url)), {
        workerData: task,
        execArgv: ["--disable-warning=ExperimentalWarning"],
        name: "flyball-storage-copy"
      })
      worker.once("message", (fault: Fault | null) => resume(fault === null ? Effect.void : failOrDie(errorOf(fault))))
      worker.once("error", (error) =>
        resume(
          Effect.fail(new StorageUnavailable({ reason: `the copying thread died (${error.message})`, wrote: "no" }))
        )
      )
    })
  )
