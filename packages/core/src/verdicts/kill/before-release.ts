/** What is recorded before a halt is lifted. Reviews have a word in it (`verdicts/reviews/before-release.ts`). */
import { Context, Effect } from "effect"
import type { ReadFault } from "../../storage/port.ts"

/**
 * Runs before each release of an activation that halts, while it holds still. What only a live halt shows would be
 * forgotten otherwise. It may run again: a release that fails is tried again.
 */
export const BeforeRelease = Context.Reference<Effect.Effect<void, ReadFault>>("flyball/core/BeforeRelease", {
  defaultValue: () => Effect.void
})
