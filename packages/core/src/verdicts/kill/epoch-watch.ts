/** Waits for the next change of the kill state, made by this process or another one. */
import { Effect, Fiber, type Scope } from "effect"
import { KILL_EPOCH } from "@flyball/rules"
import type { StorageApi } from "../../storage/port.ts"
import type { KillListenerApi } from "./kill-listener.ts"

/**
 * How often the epoch's document is read while somebody waits. Unit: milliseconds. One read for all of them: what
 * another process activates is known here this much later.
 */
export const EPOCH_POLL_MS = 250

/** Ends when the epoch's document has another version than the one that the caller read. */
export type NextChange = (version: number) => Effect.Effect<void>

/** A watch over a store. Nobody who waits costs nothing. */
export const epochWatch = Effect.fnUntraced(function* (
  storage: StorageApi,
  listener: KillListenerApi
): Effect.fn.Return<NextChange, never, Scope.Scope> {
  const services = yield* Effect.context<never>()
  const waiting = new Map<() => void, number>()
  let polling: Fiber.Fiber<void> | null = null

  const wake = (version: number | null): void => {
    for (const [resume, known] of waiting) {
      if (known === version) continue
      waiting.delete(resume)
      resume()
    }
  }

  const poll = Effect.gen(function* () {
    while (waiting.size > 0) {
      yield* Effect.sleep(EPOCH_POLL_MS)
      if (waiting.size === 0) break
      const read = yield* Effect.result(storage.get(KILL_EPOCH.collection, KILL_EPOCH.id))
      // A store that does not answer now is read again: who waits has a time limit of its own.
      if (read._tag === "Success") wake(read.success?.version ?? 0)
    }
    polling = null
  })

  // Who read the state before the commit has an older version.
  const stop = listener.listen(() => wake(null))
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      stop()
      return polling === null ? Effect.void : Fiber.interrupt(polling)
    })
  )

  return (version) =>
    Effect.callback<void>((resume) => {
      const done = (): void => resume(Effect.void)
      waiting.set(done, version)
      polling ??= Effect.runForkWith(services)(poll)
      return Effect.sync(() => void waiting.delete(done))
    })
})
