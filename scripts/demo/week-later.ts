/** Opens the demo's store as a process would that lives eight days later, and lets the clock of the registry look once. */
import { governorLayer, keysLayerOf, layerOf, suspendDue } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Clock, Effect, Layer } from "effect"

const LATER_MS = 8 * 86_400_000

/** How many agents were suspended. */
export const openSuspended = (folder: string): Promise<number> => {
  const layer = governorLayer().pipe(Layer.provideMerge(layerOf(sqliteStorage({ file: `${folder}/flyball.db` }))), Layer.provide(keysLayerOf(dataFolder({ dir: folder }))))
  return Effect.runPromise(Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const later: Clock.Clock = {
      ...clock,
      sleep: (duration) => clock.sleep(duration),
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + LATER_MS,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + LATER_MS)
    }
    return yield* suspendDue.pipe(Effect.provideService(Clock.Clock, later))
  }).pipe(Effect.provide(layer)))
}
