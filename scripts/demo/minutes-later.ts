/** Opens the demo's store as a process would that lives some minutes later, and lets it send what is due then. */
import { deliveryEngine, governorLayer, keysLayerOf, layerOf, webhooksLayerOf } from "@flyball/core"
import { dataFolder, pinnedWebhooks } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer } from "effect"
import { later } from "./later-clock.ts"

/** Sends until `done`; what is under way then is settled before this resolves. */
export const sendLater = (folder: string, laterMs: number, done: () => Promise<void>): Promise<void> => {
  const webhooks = pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true, secrets: { dir: folder } })
  const sending = deliveryEngine().pipe(
    Layer.provideMerge(governorLayer()),
    Layer.provide(webhooksLayerOf(webhooks)),
    Layer.provide(layerOf(sqliteStorage({ file: `${folder}/flyball.db` }))),
    Layer.provide(keysLayerOf(dataFolder({ dir: folder })))
  )
  return Effect.runPromise(later(laterMs, Effect.promise(done).pipe(Effect.provide(sending))))
}
