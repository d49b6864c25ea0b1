/** Putting a whole store aside and beginning a chain in its place. Only recovery does it. Decision 0010. */
import { Context, Effect } from "effect"
import type { StorageChoice, StorageOpenFault } from "./choice.ts"
import type { Head, RecordDraft } from "./port.ts"

/** Content of the store that replaces a retired one. Spec: decision 0010. */
export interface RetirePlan {
  /** The head that the plan was made for, null for an empty chain. A store with another one is left as it is. */
  readonly head: Head | null
  /**
   * Record 0 of the new chain. Its time is not before that of `head`, whatever the clock says: carried documents depend
   * on times up to that one.
   */
  readonly genesis: RecordDraft
  /**
   * Collections about the old chain, which stay with it. All other documents are carried over with versions and look-up
   * keys.
   */
  readonly leave: ReadonlyArray<string>
}

/** Operations of a kind of store for a recovery. Spec: decision 0010. */
export interface Retirement {
  /**
   * Puts the store aside, whole, and leaves a new one in its place: the genesis and the documents that are carried.
   * What is owed, once keys and leases stay behind; the sequences of endpoints continue behind the next multiple of
   * `SEQUENCES_OF_A_CHAIN`, so that a receiver sees that something is missing, and none comes twice.
   *
   * All or nothing to a process that opens the store; a crash on the way is finished by doing it again. No other
   * process writes meanwhile, and none that had the old chain open can write into the new one.
   */
  readonly retire: (plan: RetirePlan) => Effect.Effect<void, StorageOpenFault>
  /** The retired stores, oldest first. Each opens for reading only. */
  readonly retired: Effect.Effect<ReadonlyArray<StorageChoice>, StorageOpenFault>
}

/**
 * The retired stores beside the open one, oldest first. A storage layer provides it where there can be any. Spec:
 * decision 0010.
 */
export const RetiredStores: Context.Reference<Retirement["retired"]> = Context.Reference("flyball/core/RetiredStores", {
  defaultValue: (): Retirement["retired"] => Effect.succeed([])
})
