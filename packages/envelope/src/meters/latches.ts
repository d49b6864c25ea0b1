/**
 * Latches: what a run once met, it has met for as long as it lasts.
 *
 * Spec: `SPEC.md` section 3.
 */
import { stepsOf, valueAt } from "../language/arguments.ts"
import type { Signal } from "../language/envelope.ts"

/** Latches that are set in a run after one more evaluation, by those that it sets. Spec: `envelope/1` section 3. */
export const foldLatches = (set: ReadonlySet<string>, sets: ReadonlyArray<string>): ReadonlySet<string> =>
  sets.length === 0 ? set : new Set([...set, ...sets])

/**
 * The latches that an evaluation sets for the next ones of its run, by name: whatever its outcome, and even where
 * another of its signals is invalid. Spec: `envelope/1` section 3.
 */
export const latchesSetBy = (
  signals: ReadonlyArray<Signal>,
  caller: unknown,
  server: { readonly [name: string]: unknown },
  args?: unknown
): ReadonlyArray<string> => {
  const sent = typeof caller === "object" && caller !== null ? (caller as { readonly [name: string]: unknown }) : {}
  const set: Array<string> = []
  for (const { name, setBy } of signals) {
    const by = setBy === null ? undefined : signals.find((signal) => signal.name === setBy)
    if (by === undefined) continue
    const value =
      by.from === null ? (by.source === "caller" ? sent : server)[by.name] : valueAt(args, stepsOf(by.from)!)
    // Null is a value that no signal has, and not a missing one.
    if ((value === undefined ? by.onMissing : value) === true) set.push(name)
  }
  return set
}
