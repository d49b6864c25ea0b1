/** A store whose commits and sealed records are counted. */
import { Cause, Clock, Effect, type Exit, Layer } from "effect"
import { counter, counterBy, histogram } from "../foundation/metrics.ts"
import type { StorageConflict } from "./faults.ts"
import { type CommitReceipt, type ReadFault, Storage } from "./port.ts"

const commits = counterBy(
  "flyball_commits_total",
  "Commits by outcome. A conflict is planned and committed again.",
  "outcome",
  ["committed", "conflict", "unavailable", "corrupt", "interrupted", "failed"]
)
const duration = histogram(
  "flyball_commit_duration_seconds",
  "Time from handing a change to the store until it is durable. Commits that failed are not in it."
)
const sealed = counter("flyball_records_sealed_total", "Records that this process added to the chain.")

/** The store underneath, with its commits and sealed records counted. */
export const countedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const clock = yield* Clock.Clock
    const context = yield* Effect.context<never>()
    return Storage.of({
      ...storage,
      commit: (change) => {
        const commit = storage.commit(change)
        return Effect.suspend(() => {
          const startedNanos = clock.monotonicTimeNanosUnsafe()
          return Effect.onExit(commit, (exit) => {
            commits[outcomeOf(exit)].add(1, context)
            if (exit._tag === "Success") {
              duration.observe(Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e9, context)
              for (const { duplicate } of exit.value.records) if (!duplicate) sealed.add(1, context)
            }
            return Effect.void
          })
        })
      }
    })
  })
)

const outcomes = { StorageConflict: "conflict", StorageUnavailable: "unavailable", StorageCorrupt: "corrupt" } as const

const outcomeOf = (exit: Exit.Exit<CommitReceipt, StorageConflict | ReadFault>): keyof typeof commits => {
  if (exit._tag === "Success") return "committed"
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some") return outcomes[error.value._tag]
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "failed"
}
