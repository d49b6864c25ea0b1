/** Takes a line of what happens in the background. `cause`: what went wrong, with its stack; null where nothing did. */
export type LogLine = (line: {
  readonly level: "error" | "warn" | "info"
  readonly message: string
  readonly cause: string | null
}) => void
