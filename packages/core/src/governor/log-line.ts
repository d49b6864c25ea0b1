/** Receives a log line of background work. `cause`: the error with its stack; null without one. */
export type LogLine = (line: {
  readonly level: "error" | "warn" | "info"
  readonly message: string
  readonly cause: string | null
}) => void
