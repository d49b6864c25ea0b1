/** Wakes those who wait for a change of the kill state when a commit of this process made one. */
import { Context, Effect, Layer } from "effect"
import { KILL_EPOCH } from "@flyball/rules"
import { Storage } from "../../storage/port.ts"

/** Operations of {@link KillListener}. */
export interface KillListenerApi {
  readonly notify: () => void
  /** Calls `callback` after each change until the answer is called. `callback` must be quick and not throw. */
  readonly listen: (callback: () => void) => () => void
}

/**
 * The listeners of a governor. In this process only: polling finds what other processes commit. Spec: decision 0047.
 */
export class KillListener extends Context.Service<KillListener, KillListenerApi>()("flyball/core/KillListener") {
  static readonly layer: Layer.Layer<KillListener> = Layer.sync(KillListener, () => {
    const listeners = new Set<() => void>()
    return KillListener.of({
      notify: () => listeners.forEach((callback) => callback()),
      listen: (callback) => {
        listeners.add(callback)
        return () => void listeners.delete(callback)
      }
    })
  })
}

/** The store underneath, whose commits notify the listeners when they put the epoch. */
export const killNotifyingStorage: Layer.Layer<Storage, never, Storage | KillListener> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const { notify } = yield* KillListener
    return Storage.of({
      ...storage,
      commit: (change) =>
        change.puts?.some(({ collection }) => collection === KILL_EPOCH.collection) === true
          ? Effect.tap(storage.commit(change), () => Effect.sync(notify))
          : storage.commit(change)
    })
  })
)
