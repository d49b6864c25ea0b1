/** A store that notifies the checkpointer of each commit, so that no service has to. */
import { Effect, Layer } from "effect"
import { Checkpointer } from "./checkpointer.ts"
import { type ChangeSet, Storage } from "../storage/port.ts"

/**
 * The store underneath, whose commits also wake the checkpointer: records that are due for a signature need not wait
 * for its next poll.
 *
 * What `commit` answers may be run once: the ChangeSet is let go of when the store has it, since the garbage collector
 * would copy what waits for its commit.
 */
export const checkpointingStorage: Layer.Layer<Storage, never, Storage | Checkpointer> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const checkpointer = yield* Checkpointer
    return Storage.of({
      ...storage,
      commit: (change) => {
        const kinds = (change.records ?? []).map((record) => record.kind)
        let handedOver: ChangeSet | null = change
        const commit = Effect.suspend(() => {
          if (handedOver === null) throw new Error("A commit was run twice. Get a new one from the store each time.")
          const once = storage.commit(handedOver)
          handedOver = null
          return once
        })
        return Effect.map(commit, (receipt) => {
          checkpointer.onCommit(kinds)
          return receipt
        })
      }
    })
  })
)
