/** A store whose commits and sealed records are counted. */
import { Cause, Clock, Effect, type Exit, Layer } from "effect"
import { counter, counterBy, histogramBy } from "../foundation/metrics.ts"
import type { StorageConflict } from "./faults.ts"
import { type CommitReceipt, type ReadFault, Storage } from "./port.ts"

const ends = ["committed", "conflict", "unavailable", "corrupt", "interrupted", "failed"] as const
const commits = counterBy(
  "flyball_commits_total",
  "Commits by outcome. A conflict is planned and committed again.",
  "outcome",
  ends
)
const duration = histogramBy(
  "flyball_commit_duration_seconds",
  "Time from handing a change to the store until it is durable, or until the commit has failed.",
  "outcome",
  ends
)
const takes = counterBy(
  "flyball_limit_takes_total",
  "Requests of rate limits and permits to the store by outcome, one for each row set or permit.",
  "outcome",
  ["admitted", "refused", "failed"]
)
const sealed = counter("flyball_records_sealed_total", "Records that this process added to the chain.")

/** Wraps a store so that its commits and sealed records are counted. */
export const countedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const clock = yield* Clock.Clock
    const context = yield* Effect.context<never>()
    return Storage.of({
      ...storage,
      limits: {
        shared: storage.limits.shared,
        take: (requests) =>
          Effect.onExit(storage.limits.take(requests), (exit) => {
            if (exit._tag === "Failure") takes.failed.add(requests.length, context)
            else
              for (const { admitted, held } of exit.value)
                takes[admitted && held?.granted !== 0 ? "admitted" : "refused"].add(1, context)
            return Effect.void
          })
      },
      commit: (change) => {
        const commit = storage.commit(change)
        return Effect.suspend(() => {
          const startedNanos = clock.monotonicTimeNanosUnsafe()
          return Effect.onExit(commit, (exit) => {
            const outcome = outcomeOf(exit)
            commits[outcome].add(1, context)
            duration[outcome].observe(Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e9, context)
            if (exit._tag === "Success")
              for (const { duplicate } of exit.value.records) if (!duplicate) sealed.add(1, context)
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
