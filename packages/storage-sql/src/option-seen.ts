/** What a host handed in as an option, for a sentence that refuses it. */

/** Whether it is an object that options can be read from. */
export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Unit: characters of a string that are shown. */
const maxShown = 80

/** A few words for a value of any kind. Not for secrets: a text is shown. */
export const seen = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.slice(0, maxShown))
    case "function":
    case "symbol":
      return `a ${typeof value}`
    case "object":
      return value === null ? "null" : `an object (${Object.prototype.toString.call(value).slice("[object ".length, -1)})`
    default:
      return String(value)
  }
}
