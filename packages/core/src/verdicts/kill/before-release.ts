/** What is recorded before a halt is lifted. Reviews have a word in it (`verdicts/reviews/before-release.ts`). */
import { Context, Effect } from "effect"
import type { ReadFault } from "../../storage/port.ts"

/**
 * Runs before each release of a halting activation, while that is still in force: some events can be recorded only
 * during a halt. It may run again, because a failed release is retried. Spec: decision 0049.
 */
export const BeforeRelease = Context.Reference<Effect.Effect<void, ReadFault>>("flyball/core/BeforeRelease", {
  defaultValue: () => Effect.void
})
