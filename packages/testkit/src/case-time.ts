/** The one clock that a storage case sets: the store's. */
import { Context } from "effect"
import type { Effect } from "effect"
import { TestClock } from "effect/testing"

/** Moves the store's time, forwards or back. */
export interface CaseClock {
  /** Sets the time. Unit: milliseconds since 1970. */
  readonly set: (atMs: number) => Effect.Effect<void>
}

/** Default: Effect's TestClock. A store with a clock of its own provides one that moves both. */
export const CaseTime: Context.Reference<CaseClock> = Context.Reference("flyball/testkit/CaseTime", {
  defaultValue: (): CaseClock => ({ set: (atMs) => TestClock.setTime(atMs) })
})
