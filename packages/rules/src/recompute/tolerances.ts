/**
 * The tolerances of replay between a record and what it says of itself, and the length of an id. Spec: decision 0026.
 */

/**
 * The maximum time between what a record says and its own time: longer is late. The service reads the clock, plans and
 * commits, and a commit takes less (a lock 30 s, a statement 60 s, a clock set back 60 s). Unit: milliseconds.
 */
export const LATE_MS = 300_000

/**
 * The maximum by which a stated time may exceed that of its record: a clock was set back in between. Unit:
 * milliseconds.
 */
export const CLOCK_STEP_MS = 60_000

/** Characters of an id: a hostile pack may have any text in its place. */
export const ID_LENGTH = 30
