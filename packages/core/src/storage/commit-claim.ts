/** The claim that commits carry for the request that makes them. Spec: document 2 section 4; platform section 4. */
import { Context, Effect } from "effect"
import type { StorageConflict } from "./faults.ts"
import type { ChangeSet, CommitReceipt, ReadFault, StorageApi } from "./port.ts"

/** The key of a request, which the first commit of its attempt carries. */
export interface CommitClaim {
  /** Commits a change of the attempt. `offered`: what the commit answers; null where it does not say. */
  readonly commit: (
    storage: StorageApi,
    change: ChangeSet,
    offered: { readonly value: unknown } | null
  ) => Effect.Effect<CommitReceipt, StorageConflict | ReadFault>
}

/** The key of the attempt that runs; null outside of one. */
export const CurrentClaim = Context.Reference<CommitClaim | null>("flyball/core/storage/CurrentClaim", {
  defaultValue: () => null
})

/**
 * Keeps the key of the request out of commits that are no part of its effect: another request would make them as well,
 * and a second time they change nothing.
 */
export const beside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, CurrentClaim, null)
