/** Wakes those who wait for a change of the kill state when a commit of this process made one. */
import { Context, Effect, Layer } from "effect"
import { KILL_EPOCH } from "@flyball/rules"
import { Storage } from "../../storage/port.ts"

/** The listeners. */
export interface KillListenerApi {
  readonly ring: () => void
  /** Calls `heard` after each change until the answer is called. `heard` must be quick and not throw. */
  readonly listen: (heard: () => void) => () => void
}

/** The listeners of a governor. In this process only: polling finds what other processes commit. */
export class KillListener extends Context.Service<KillListener, KillListenerApi>()("flyball/core/KillListener") {
  static readonly layer: Layer.Layer<KillListener> = Layer.sync(KillListener, () => {
    const listeners = new Set<() => void>()
    return KillListener.of({
      ring: () => listeners.forEach((heard) => heard()),
      listen: (heard) => {
        listeners.add(heard)
        return () => void listeners.delete(heard)
      }
    })
  })
}

/** The store underneath, whose commits ring when they put the epoch. */
export const killNotifyingStorage: Layer.Layer<Storage, never, Storage | KillListener> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const { ring } = yield* KillListener
    return Storage.of({
      ...storage,
      commit: (change) =>
        change.puts?.some(({ collection }) => collection === KILL_EPOCH.collection) === true
          ? Effect.tap(storage.commit(change), () => Effect.sync(ring))
          : storage.commit(change)
    })
  })
)
