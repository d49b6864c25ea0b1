/**
 * The store's time, and where it ends. It imports next to nothing: threads of stores load it.
 *
 * Format 1 writes instants of the years 0000 to 9999. A record with a later one could not be read again.
 */

/** The last millisecond that a record can have: `LAST_INSTANT_MS` of evidence. A test compares the two. */
export const LAST_STORE_MS = 253_402_300_799_999

/** The newest record: the store's time is never before it. */
interface Newest {
  readonly atMs: number
}

/** The store's time: the clock's, but never before the newest record's. Unit: milliseconds since 1970 UTC. */
export const storeTimeMs = (nowMs: number, head: Newest | null): number => Math.max(Math.floor(nowMs), head?.atMs ?? 0)

/**
 * The store's time for plans, limited to the last one that a record can have.
 *
 * So reads continue, and a plan can write the instants that it makes of it. Its commit is refused.
 */
export const plannedTimeMs = (nowMs: number, head: Newest | null): number => instantMs(storeTimeMs(nowMs, head))

/** Limits a time to the last one that a record can have. Unit: milliseconds since 1970 UTC. */
export const instantMs = (ms: number): number => Math.min(ms, LAST_STORE_MS)

/**
 * Describes why records cannot have this time, as half a sentence; null if they can.
 *
 * It refuses what gets the store's time: records, events, deliveries. Working state does not, so that a store that is
 * past the end can be opened.
 */
export const timeProblem = (nowMs: number, head: Newest | null): string | null => {
  if (head !== null && head.atMs > LAST_STORE_MS) {
    const found = `the newest record is of ${head.atMs} ms since 1970, past the year 9999`
    return `${found}, and times of records never decrease; restore a backup from before the clock was wrong`
  }
  const ms = Math.floor(nowMs)
  if (ms <= LAST_STORE_MS) return null
  const found = `the clock is at ${ms} ms since 1970, past the year 9999`
  return `${found}, and a record cannot have such a time; correct the clock`
}
