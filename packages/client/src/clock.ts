/** Time as the client needs it, so that tests run without real time. */

/** A clock. `monotonicMs` never steps back, whatever happens to the time of day. Units: milliseconds. */
export interface ClientClock {
  readonly monotonicMs: () => number
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: () => number
  /** Calls back once; the answer cancels. */
  readonly after: (ms: number, call: () => void) => () => void
  /** 0 up to, but not including, 1: the jitter of retries and polls. */
  readonly random: () => number
}

/** The clock of this process. Its timers keep no process alive. */
export const systemClock: ClientClock = {
  monotonicMs: () => performance.now(),
  nowMs: () => Date.now(),
  after: (ms, call) => {
    const timer: unknown = setTimeout(call, ms)
    if (typeof timer === "object" && timer !== null && "unref" in timer) (timer as { unref: () => void }).unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  random: () => Math.random()
}

/** Waits; ends early when the signal aborts. A time that is over already is no wait. */
export const pause = (clock: ClientClock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      cancel()
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const cancel = clock.after(Math.max(0, ms), end)
    signal?.addEventListener("abort", end)
  })
