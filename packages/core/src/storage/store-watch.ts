/** Waits for something in the store to change, whichever process changes it, at one read for all who wait. */
import { Effect, Fiber, type Scope } from "effect"
import type { ReadFault } from "./port.ts"

/** Options of a watch. `V` is the caller's known version. */
export interface Watched<V> {
  /** How often it is read while somebody waits: what another process changes is known this much later. Milliseconds. */
  readonly pollMs: number
  /** Reads it, for callers who know these values. */
  readonly read: (known: ReadonlyArray<V>) => Effect.Effect<V, ReadFault>
  /** Reports whether a caller who knows `known` waits no longer. */
  readonly isNews: (known: V, read: V) => boolean
}

/** A watch over a store. Nobody who waits costs nothing. */
export interface StoreWatch<V> {
  /** Ends when there is something new to the caller. A failed read is repeated. */
  readonly next: (known: V) => Effect.Effect<void>
  /** Ends all waits: this process changed it. */
  readonly wake: () => void
}

/** Opens a watch. It ends with its scope. */
export const storeWatch = Effect.fnUntraced(function* <V>({
  isNews,
  pollMs,
  read
}: Watched<V>): Effect.fn.Return<StoreWatch<V>, never, Scope.Scope> {
  const services = yield* Effect.context<never>()
  const waiting = new Map<() => void, V>()
  let polling: Fiber.Fiber<void> | null = null

  const wakeWhere = (hasNews: (known: V) => boolean): void => {
    // A caller who waits again at once is not among them: it would be woken for ever.
    for (const [resume, known] of Array.from(waiting)) {
      if (!hasNews(known)) continue
      waiting.delete(resume)
      resume()
    }
  }

  const poll = Effect.gen(function* () {
    while (waiting.size > 0) {
      yield* Effect.sleep(pollMs)
      if (waiting.size === 0) break
      const found = yield* Effect.result(read([...waiting.values()]))
      // A store that does not answer now is read again: who waits has a time limit of its own.
      if (found._tag === "Success") wakeWhere((known) => isNews(known, found.success))
    }
    polling = null
  })

  yield* Effect.addFinalizer(() => Effect.suspend(() => (polling === null ? Effect.void : Fiber.interrupt(polling))))

  return {
    next: (known) =>
      Effect.callback<void>((resume) => {
        const done = (): void => resume(Effect.void)
        waiting.set(done, known)
        polling ??= Effect.runForkWith(services)(poll)
        return Effect.sync(() => void waiting.delete(done))
      }),
    wake: () => wakeWhere(() => true)
  }
})
