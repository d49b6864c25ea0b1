/** A clock that is ahead. */
import { Clock, Effect } from "effect"

/** Runs an Effect so much later than it is. */
export const later = <A, E, R>(laterMs: number, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const ahead: Clock.Clock = {
      ...clock,
      sleep: (duration) => clock.sleep(duration),
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + laterMs,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + laterMs)
    }
    return yield* Effect.provideService(effect, Clock.Clock, ahead)
  })
