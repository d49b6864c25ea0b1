/** Store and guard whose writes are spans. Where no collector is configured they are what they were. */
import { Guard, Storage, type StorageApi } from "@flyball/core"
import { type Attributes, CurrentSpan, Tracing, type TracingApi } from "@flyball/http/host"
import { Cause, Effect, type Exit, Layer } from "effect"

/**
 * The store underneath. A commit is a span, one that stores a checkpoint is named so. Reads are none: there are too
 * many, and they say little.
 */
export const tracedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const tracing = yield* Tracing
    if (tracing === null) return storage
    const commit: StorageApi["commit"] = (change) => {
      // Only numbers of it: a ChangeSet that is kept until the commit is over is copied by the garbage collector.
      const attributes = {
        "flyball.storage.backend": storage.backend,
        "flyball.commit.records": change.records?.length ?? 0,
        "flyball.commit.documents": change.puts?.length ?? 0
      }
      return inSpan(
        tracing,
        change.puts?.[0]?.collection === "checkpoints" ? "checkpoint.store" : "storage.commit",
        attributes,
        storage.commit(change)
      )
    }
    return Storage.of({ ...storage, commit })
  })
)

/** The guard underneath: what a checkpoint waits for before it is signed. */
export const tracedGuard: Layer.Layer<Guard, never, Guard> = Layer.effect(
  Guard,
  Effect.gen(function* () {
    const guard = yield* Guard
    const tracing = yield* Tracing
    if (tracing === null) return guard
    return Guard.of({
      ...guard,
      advance: (from, to) =>
        inSpan(tracing, "checkpoint.guard", { "flyball.checkpoint.records": to.size }, guard.advance(from, to))
    })
  })
)

/** A conflict is read again and planned again, so it is no failure. */
const CONFLICT = "StorageConflict"

const inSpan = <A, E extends { readonly _tag: string }, R>(
  tracing: TracingApi,
  name: string,
  attributes: Attributes,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentSpan, (parent) => {
    const span = tracing.start("internal", parent)
    return Effect.onExit(effect, (exit) =>
      Effect.sync(() => {
        const error = errorOf(exit)
        span.end({
          name,
          attributes: error === null ? attributes : { ...attributes, "error.type": error },
          failed: error !== null && error !== CONFLICT
        })
      })
    )
  })

/** A word for what went wrong, never its message: that may name hosts, files and what was written. */
const errorOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string | null => {
  if (exit._tag === "Success") return null
  const error = Cause.findErrorOption(exit.cause)
  return error._tag === "Some" ? error.value._tag : Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "defect"
}
