/** The server's log: one JSON line an entry, on standard error. */
import type { LogRequest } from "../http/log.ts"

/** From the chattiest to none. */
export type LogLevel = "info" | "warn" | "error" | "silent"

const weight: { readonly [level in LogLevel]: number } = { info: 0, warn: 1, error: 2, silent: 3 }

/** A log line of the process itself. */
export type Log = (level: Exclude<LogLevel, "silent">, message: string, members?: { readonly [name: string]: unknown }) => void

/** A log that drops what is below `from`. */
export const makeLog = (from: LogLevel, write: (line: string) => void, now: () => Date): Log => (level, message, members = {}) => {
  if (weight[level] >= weight[from]) write(`${JSON.stringify({ at: now().toISOString(), level, message, ...members })}\n`)
}

/** Logs each finished request: answers 5xx as errors, the others as information. */
export const requestLog = (log: Log): LogRequest => ({ durationMs, ...entry }) =>
  log(entry.status >= 500 ? "error" : "info", "request", { ...entry, durationMs: Math.round(durationMs * 10) / 10 })
