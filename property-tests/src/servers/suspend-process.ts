/** `node suspend-process.ts URL DIR DAYS`: a process that lives DAYS later than its host, and suspends what is due then. Prints how many agents that were. */
import { governorLayer, keysLayerOf, layerOf, suspendDue } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { Clock, Effect, Layer } from "effect"

const [url, dir, days] = process.argv.slice(2)
const laterMs = Number(days) * 86_400_000

/** The host's clock, so many days on. Only what rules go by: timers run as they do. */
const later = Effect.map(Clock.Clock, (clock): Clock.Clock => ({
  ...clock,
  sleep: (duration) => clock.sleep(duration),
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + laterMs,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + laterMs)
}))

const layer = governorLayer().pipe(Layer.provideMerge(layerOf(postgresStorage({ url: url! }))), Layer.provide(keysLayerOf(dataFolder({ dir: dir! }))))
console.log("ready")
const suspended = await Effect.runPromise(Effect.gen(function*() {
  return yield* suspendDue.pipe(Effect.provideService(Clock.Clock, yield* later))
}).pipe(Effect.provide(layer)))
console.log(String(suspended))
