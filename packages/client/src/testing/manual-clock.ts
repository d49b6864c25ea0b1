/** A clock that a test moves. Timers fire in order, and each gets the turns that its callbacks need. */
import type { ClientClock } from "../clock.ts"

/** A clock that stands still until it is moved. */
export interface ManualClock extends ClientClock {
  /** Moves time on and fires what is due. Unit: milliseconds. */
  readonly advance: (ms: number) => Promise<void>
}

/** Makes one. It starts at 1,000,000 ms; the time of day is the same number. */
export const manualClock = (): ManualClock => {
  let nowMs = 1_000_000
  const timers = new Set<{ readonly atMs: number; readonly call: () => void }>()
  return {
    monotonicMs: () => nowMs,
    nowMs: () => nowMs,
    random: () => 0.5,
    after: (ms, call) => {
      const timer = { atMs: nowMs + ms, call }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: async (ms) => {
      const untilMs = nowMs + ms
      await settled()
      for (;;) {
        const due = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (due === undefined) break
        timers.delete(due)
        nowMs = Math.max(nowMs, due.atMs)
        due.call()
        await settled()
      }
      nowMs = untilMs
      await settled()
    }
  }
}

/** Lets everything that waits for no timer continue. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
