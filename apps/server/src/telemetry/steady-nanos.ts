/** The time of spans: of day, and yet good for durations. */

/** How far the two clocks may part before the time of day is taken again. Unit: milliseconds. */
const APART_MS = 5

/**
 * Nanoseconds since 1970 UTC, to a microsecond.
 *
 * The time of day alone is whole milliseconds and may step back within a span; the process's own clock alone drifts
 * away from it in weeks.
 */
export const steadyNanos = (
  dayMs: () => number = Date.now,
  steadyMs: () => number = () => performance.now()
): (() => bigint) => {
  let offsetMs = dayMs() - steadyMs()
  return () => {
    const steady = steadyMs()
    const day = dayMs()
    if (Math.abs(day - (offsetMs + steady)) > APART_MS) offsetMs = day - steady
    return BigInt(Math.round((offsetMs + steady) * 1_000)) * 1_000n
  }
}
