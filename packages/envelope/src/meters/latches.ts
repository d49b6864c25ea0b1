/**
 * Latches: what a run once met, it has met until a review clears it.
 *
 * Spec: `SPEC.md` section 3.
 */
import type { Signal } from "../language/envelope.ts"

/**
 * A record of a run that touches latches, in the order of the chain: an evaluation with the latches it set, or a review
 * with those it clears.
 */
export interface LatchEvent {
  readonly sets: ReadonlyArray<string>
  readonly clears: ReadonlyArray<string>
}

/** Latches that are set after one more record of the run. */
export const foldLatches = (set: ReadonlySet<string>, { clears, sets }: LatchEvent): ReadonlySet<string> =>
  sets.length === 0 && clears.length === 0
    ? set
    : new Set([...[...set].filter((name) => !clears.includes(name)), ...sets])

/**
 * The latches that an evaluation sets for those after it in its run, by name: whatever came of it, even where another
 * of its signals is invalid.
 */
export const latchesSetBy = (
  signals: ReadonlyArray<Signal>,
  caller: unknown,
  server: { readonly [name: string]: unknown }
): ReadonlyArray<string> => {
  const sent = typeof caller === "object" && caller !== null ? (caller as { readonly [name: string]: unknown }) : {}
  const set: Array<string> = []
  for (const { name, setBy } of signals) {
    const by = setBy === null ? undefined : signals.find((signal) => signal.name === setBy)
    if (by === undefined) continue
    const value = (by.source === "caller" ? sent : server)[by.name]
    // Null is a value that no signal has, and not a missing one.
    if ((value === undefined ? by.onMissing : value) === true) set.push(name)
  }
  return set
}
