/**
 * `node jobs-main.ts URL DIR DAYS`: a process that lives DAYS later than its host and runs the jobs that every governor
 * runs.
 *
 * Prints `suspended ID` once that is committed, and `polled` when the clock of the registry goes to sleep. A line on
 * standard input is the minute until its next poll; the end of the input is the end of the process, in order.
 */
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Agents, ChannelPeriod, governorJobs, governorLayer, keysLayerOf, layerOf } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { Clock, Duration, Effect, Layer } from "effect"

const [url, dir, days] = process.argv.slice(2)
const laterMs = Number(days) * 86_400_000
/** Only the clock of the registry sleeps so long. */
const POLL_MS = 60_000

const minutes = createInterface(process.stdin)
const ended = once(minutes, "close")
const minute = Effect.callback<void>((resume) => {
  minutes.once("line", () => resume(Effect.void))
  console.log("polled")
})

/**
 * The host's clock, so many days on. Timers run as they do, but for the one of the registry's clock, which waits for
 * its line.
 */
const later = Effect.map(Clock.Clock, (clock): Clock.Clock => ({
  ...clock,
  sleep: (duration) => (Duration.toMillis(duration) === POLL_MS ? minute : clock.sleep(duration)),
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + laterMs,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + laterMs)
}))

const telling = Layer.effect(
  Agents,
  Effect.map(Agents, (agents) =>
    Agents.of({
      ...agents,
      suspendIfDue: (id) =>
        Effect.tap(agents.suspendIfDue(id), (agent) =>
          Effect.sync(() => agent !== null && console.log(`suspended ${id}`))
        )
    })
  )
)

const layer = governorJobs.pipe(
  // The check of the kill switch's channel would sleep as long as the clock of the registry.
  Layer.provide(Layer.mergeAll(telling, Layer.effect(Clock.Clock, later), Layer.succeed(ChannelPeriod, 0))),
  Layer.provide(governorLayer()),
  Layer.provide(layerOf(postgresStorage({ url: url! }))),
  Layer.provide(keysLayerOf(dataFolder({ dir: dir! })))
)
await Effect.runPromise(
  Effect.provide(
    Effect.promise(() => ended),
    layer
  )
)
