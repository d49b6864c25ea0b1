/** Copies the input of a tool as JSON, so that what was judged is what runs. */
import type { Json } from "../wire.ts"

/**
 * A copy of a value that is plain JSON. Members that are `undefined` are left out, as in `JSON.stringify`.
 *
 * Fails: `TypeError` on everything that has no JSON form of its own (dates, maps, functions, numbers that are no
 * numbers): an approval binds the JSON form, and two different inputs must not share one.
 */
export const plainJson = (value: unknown, path = "input"): Json => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((one, index) => plainJson(one, `${path}[${index}]`))
  if (typeof value !== "object" || !isPlain(value))
    throw new TypeError(`${path} is no JSON: the input of a governed tool is.`)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === undefined ? [] : [[name, plainJson(inner, `${path}.${name}`)]]
    )
  )
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype as object) === null
}
