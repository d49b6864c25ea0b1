/**
 * Checks the options of a SQLite store before anything is made: plain JavaScript has no compiler that would check them.
 */
import { isOptions, describeValue } from "@flyball/core/storage"
import type { SqliteOptions } from "./thread/threads.ts"

/** The most that `node:sqlite` takes. Unit: milliseconds. */
const maxBusyTimeoutMs = 2_147_483_647

/** Describes the problem with these options in a sentence that continues after a colon; null if there is none. */
export const optionsProblem = (options: SqliteOptions): string | null => {
  if (!isOptions(options))
    return `sqliteStorage takes an object such as { file: "flyball.db" }, not ${describeValue(options)}`
  const { busyTimeoutMs, file, readOnly, small } = options
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    return (
      "file is the path of the database file, a string that is not empty, not " +
      `${describeValue(file)}${isUrl(file) ? "; write fileURLToPath(url)" : ""}`
    )
  }
  // SQLite would read it as a URI, whose parameters can switch its locks off. For reading only the stores that were put
  // aside are named so.
  if (readOnly !== true && /^file:/i.test(file))
    return `file is a path, not ${describeValue(file)}; write fileURLToPath(url)`
  if (
    busyTimeoutMs !== undefined &&
    !(Number.isInteger(busyTimeoutMs) && busyTimeoutMs >= 0 && busyTimeoutMs <= maxBusyTimeoutMs)
  ) {
    return (
      `busyTimeoutMs is a whole number of milliseconds from 0 to ${maxBusyTimeoutMs}, not ` +
      `${describeValue(busyTimeoutMs)}`
    )
  }
  for (const [name, value] of [
    ["readOnly", readOnly],
    ["small", small]
  ] as const) {
    if (value !== undefined && typeof value !== "boolean")
      return `${name} is true, false or left out, not ${describeValue(value)}`
  }
  return null
}

const isUrl = (value: unknown): boolean => isOptions(value) && value instanceof URL
