/** Ends waits when the server drains. */
import { Effect } from "effect"
import type { ServerFacts } from "./call.ts"

/** Time between two checks of whether the server drains. Unit: milliseconds. */
const DRAIN_CHECK_MS = 250

/** The result of a wait; null as soon as the server drains. Who waits must not hold up its end. */
export const untilDrained = <A, E, R>(
  wait: Effect.Effect<A | null, E, R>,
  server: ServerFacts
): Effect.Effect<A | null, E, R> =>
  Effect.raceFirst(
    wait,
    Effect.gen(function* () {
      while (!server.draining()) yield* Effect.sleep(DRAIN_CHECK_MS)
      return null
    })
  )
