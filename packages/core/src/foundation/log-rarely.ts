/** Rate-limits the log of a recurring fault: it is logged at first, then every ten minutes, and when it is over. */
import { Cause, Clock, Effect } from "effect"

/** How often a fault that continues is logged again. Unit: milliseconds. */
export const LOG_AGAIN_MS = 600_000

/** The log of one kind of fault. */
export interface LogRarely {
  /** Reports an occurrence. Another cause than the last time is logged at once. */
  readonly reported: (cause: Cause.Cause<unknown>) => Effect.Effect<void>
  /** Records that the fault did not recur. Says nothing unless it had. */
  readonly over: Effect.Effect<void>
}

/** `fault` is logged as an error with its cause and how often it came since its last line, `over` as information. */
export const logRarely = (fault: string, over: string): LogRarely => {
  let last: { readonly words: string; readonly atNanos: bigint; unreported: number } | null = null
  return {
    reported: Effect.fnUntraced(function* (cause) {
      const words = String(Cause.squash(cause))
      // Not the time of day, which may step back.
      const atNanos = yield* Clock.monotonicTimeNanos
      if (last !== null && last.words === words && atNanos - last.atNanos < BigInt(LOG_AGAIN_MS) * 1_000_000n) {
        last.unreported += 1
        return
      }
      const since =
        last === null || last.unreported === 0 ? "" : ` It failed ${last.unreported} more times since the last report.`
      last = { words, atNanos, unreported: 0 }
      yield* Effect.logError(`${fault}${since}`, cause)
    }),
    over: Effect.suspend(() => {
      if (last === null) return Effect.void
      last = null
      return Effect.logInfo(over)
    })
  }
}
