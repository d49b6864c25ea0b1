/** Time as the client needs it, so that tests run without real time. */

/** A clock. `monotonicMs` never decreases, even if the time of day does. Units: milliseconds. */
export interface ClientClock {
  readonly monotonicMs: () => number
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: () => number
  /**
   * Calls back once; the answer cancels. `isAwaited`: a caller waits for it, and the process may not end before. What
   * is done in the background keeps no process alive.
   */
  readonly after: (ms: number, call: () => void, isAwaited?: boolean) => () => void
  /** 0 up to, but not including, 1: the jitter of retries and polls. */
  readonly random: () => number
}

/**
 * A clock that never steps back: where its source does, it stands still and then continues with it. What passed between
 * the two readings around the step is not counted.
 */
export const neverBack = (read: () => number): (() => number) => {
  let last = Number.NEGATIVE_INFINITY
  let ahead = 0
  return () => {
    const now = read()
    if (now + ahead < last) ahead = last - now
    return (last = now + ahead)
  }
}

/** By how much the time of day may gain on a clock before that counts as sleep. Unit: milliseconds. */
const SLEEP_MS = 1_000

/**
 * A clock that also counts the time in which the machine slept: there the source stands still, and the time of day goes
 * on. A status that was fresh before is old then. A time of day that is set forward counts as sleep too, which makes a
 * status older and never younger.
 */
export const withSleep = (read: () => number, nowMs: () => number): (() => number) => {
  let slept = 0
  let offset = nowMs() - read()
  return () => {
    const at = read()
    const gained = nowMs() - at - offset
    if (gained > SLEEP_MS) slept += gained
    if (gained > SLEEP_MS || gained < 0) offset += gained
    return at + slept
  }
}

/**
 * The clock of this process. In a worker `performance.now` may be the time of day,
 * which somebody can set back.
 */
export const systemClock: ClientClock = {
  monotonicMs: withSleep(
    neverBack(() => performance.now()),
    () => Date.now()
  ),
  nowMs: () => Date.now(),
  after: (ms, call, isAwaited = false) => {
    const timer: unknown = setTimeout(call, ms)
    if (!isAwaited && typeof timer === "object" && timer !== null && "unref" in timer)
      (timer as { unref: () => void }).unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  random: () => Math.random()
}

/** Waits where a caller does. Otherwise a process whose server refuses connections would end in the middle. */
export const awaitedPause = (clock: ClientClock, ms: number, signal?: AbortSignal): Promise<void> =>
  pause(clock, ms, signal, true)

/** Waits; ends early when the signal aborts. A time that is over already is no wait. `isAwaited`: as in the clock. */
export const pause = (clock: ClientClock, ms: number, signal?: AbortSignal, isAwaited = false): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      cancel()
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const cancel = clock.after(Math.max(0, ms), end, isAwaited)
    signal?.addEventListener("abort", end)
  })
