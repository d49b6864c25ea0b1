/**
 * Opens the demo's store as a process eight days later would, and lets the clock of the registry poll once.
 */
import { governorLayer, keysLayerOf, layerOf, suspendDue } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer } from "effect"
import { later } from "./later-clock.ts"

const LATER_MS = 8 * 86_400_000

/** How many agents were suspended. */
export const openSuspended = (folder: string): Promise<number> => {
  const layer = governorLayer().pipe(
    Layer.provideMerge(layerOf(sqliteStorage({ file: `${folder}/flyball.db` }))),
    Layer.provide(keysLayerOf(dataFolder({ dir: folder })))
  )
  return Effect.runPromise(later(LATER_MS, suspendDue.pipe(Effect.provide(layer))))
}
