/** Time as sockets and pools see it. */
import { Clock, Effect } from "effect"

/**
 * Runs with the machine's clock, whatever clock is provided.
 *
 * A connection does not wait longer because a test moves its clock by a year. Nothing that is stored or answered reads
 * this time.
 */
export const inRealTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Clock.Clock, Clock.Clock.defaultValue())
