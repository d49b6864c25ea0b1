/** The one feed of what this process commits. Polling finds what other processes commit. */
import { Context, Effect, Layer, type Scope } from "effect"
import { type ChangeSet, Storage } from "./port.ts"

/** Operations of {@link CommitFeed}. */
export interface CommitFeedApi {
  /**
   * Calls `subscriber` with each change that is committed, before its caller has the receipt, until the scope closes.
   * It must be quick and not throw.
   */
  readonly subscribe: (subscriber: (change: ChangeSet) => void) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * Service that publishes commits to checkpoints, breakers, the kill state and the outbox. Spec: decisions 0019, 0044
 * and 0047.
 */
export class CommitFeed extends Context.Service<CommitFeed, CommitFeedApi>()("flyball/core/CommitFeed") {
  /** The feed, and the store underneath with commits that it publishes. */
  static readonly layer: Layer.Layer<CommitFeed | Storage, never, Storage> = Layer.effectContext(
    Effect.map(Storage, (storage) => {
      const subscribers = new Set<(change: ChangeSet) => void>()
      const commit: typeof storage.commit = (change) =>
        Effect.map(storage.commit(change), (receipt) => {
          for (const subscriber of subscribers) subscriber(change)
          return receipt
        })
      return Context.make(Storage, Storage.of({ ...storage, commit })).pipe(
        Context.add(CommitFeed, {
          subscribe: (subscriber) =>
            Effect.acquireRelease(
              Effect.sync(() => void subscribers.add(subscriber)),
              () => Effect.sync(() => void subscribers.delete(subscriber))
            )
        })
      )
    })
  )
}
