/** The server's log: one JSON line an entry, on standard error. */
import type { LogRequest } from "@flyball/http/server"

/** From the chattiest to none. */
export type LogLevel = "info" | "warn" | "error" | "silent"

const weight: { readonly [level in LogLevel]: number } = { info: 0, warn: 1, error: 2, silent: 3 }

/** A log line of the process itself. */
export type Log = (
  level: Exclude<LogLevel, "silent">,
  message: string,
  members?: { readonly [name: string]: unknown }
) => void

/** A log that drops what is below `from`. */
export const makeLog =
  (from: LogLevel, write: (line: string) => void, now: () => Date): Log =>
  (level, message, members = {}) => {
    if (weight[level] >= weight[from])
      write(`${JSON.stringify({ at: now().toISOString(), level, message, ...members })}\n`)
  }

/** How long a recurring fault is not logged again. Unit: milliseconds. */
const NEWS_MS = 60_000
/** Distinct faults that are kept at a time. */
const MOST_FAULTS = 32

/**
 * Logs each finished request: answers 5xx as errors, the others as information, among them the 503 of a server that
 * drains.
 *
 * A store that is away or full fails every request in the same words. They are an error once a minute, with the number
 * of those between; the others are
 * information like any request. `nowMs` counts milliseconds from anywhere.
 */
export const requestLog = (log: Log, nowMs: () => number): LogRequest => {
  const faults = new Map<string, { readonly sinceMs: number; repeated: number }>()
  return ({ durationMs, ...entry }) => {
    const members = { ...entry, durationMs: Math.round(durationMs * 10) / 10 }
    if (entry.status !== 503) return log(entry.status >= 500 ? "error" : "info", "request", members)
    if (entry.problem === null) return log("info", "request", members)
    const words = entry.problem.split("\n", 1)[0]!
    const before = faults.get(words)
    if (before !== undefined && nowMs() - before.sinceMs < NEWS_MS) {
      before.repeated += 1
      return log("info", "request", members)
    }
    if (faults.size >= MOST_FAULTS) faults.clear()
    faults.set(words, { sinceMs: nowMs(), repeated: 0 })
    log("error", "request", {
      ...members,
      ...(before === undefined || before.repeated === 0 ? {} : { repeated: before.repeated })
    })
  }
}
