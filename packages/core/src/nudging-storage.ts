/** A store that tells the checkpointer of what was committed, so that no service has to think of it. */
import { Effect, Layer } from "effect"
import { Checkpointer } from "./chain/checkpointer.ts"
import { Storage } from "./storage/port.ts"

/** The store underneath, whose commits also nudge the checkpointer: records that are due for a signature need not wait for its next look. */
export const nudgingStorage: Layer.Layer<Storage, never, Storage | Checkpointer> = Layer.effect(Storage, Effect.gen(function*() {
  const storage = yield* Storage
  const checkpointer = yield* Checkpointer
  return Storage.of({
    ...storage,
    commit: (change) => {
      // Taken out now: what waits for its commit should not keep the ChangeSet alive.
      const kinds = (change.records ?? []).map((record) => record.kind)
      return Effect.tap(storage.commit(change), () => checkpointer.nudge(kinds))
    }
  })
}))
