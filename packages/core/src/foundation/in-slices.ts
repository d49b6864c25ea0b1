/** Long work of one caller, a slice in each turn of the event loop. */
import type { Slices } from "@flyball/evidence"
import { Effect } from "effect"

/**
 * Runs work slice by slice, and yields to other tasks between two slices. The work of one slice runs without a break.
 *
 * - Fails: never; what the work throws is a defect.
 */
export const inSlices = <A>(work: Slices<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const { done, value } = work.next()
    return done === true ? Effect.succeed(value) : Effect.flatMap(Effect.yieldNow, () => inSlices(work))
  })
