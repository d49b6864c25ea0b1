/** Describes an option's value for an error text. For packages that governors are opened with. */

/** Unit: characters of a text that are shown. */
const MAX_SHOWN = 80

/** Describes a value of any kind in a few words. Not for secrets: text is shown. */
export const describeValue = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.slice(0, MAX_SHOWN))
    case "function":
    case "symbol":
      return `a ${typeof value}`
    case "object":
      return value === null
        ? "null"
        : `an object (${Object.prototype.toString.call(value).slice("[object ".length, -1)})`
    default:
      return String(value)
  }
}

/** Reports whether a value is an object that options can be read from. For callers in plain JavaScript. */
export const isOptions = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Describes the problem with the path that an option names, in one sentence; null when there is none. The empty path is
 * refused: it would be the folder that the process runs in.
 */
export const pathProblem = (option: string, value: unknown): string | null => {
  if (typeof value === "string" && value !== "" && !value.includes("\0")) return null
  const instead =
    value === ""
      ? "; write . for the folder that the process runs in"
      : value instanceof URL
        ? "; write fileURLToPath(url)"
        : ""
  return `${option} is a path, a string that is not empty, not ${describeValue(value)}${instead}`
}
