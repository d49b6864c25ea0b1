/** The canonical form of JSON. Spec: RFC 8785 (JCS). */
import { utf8 } from "../bytes.ts"
import type { JsonValue } from "./value.ts"

/** Containers that may be open at once, when a caller names no other bound: what A2A signatures allow, and far from any stack's end. */
export const MAX_CANONICAL_DEPTH = 128

/** A value has no RFC 8785 form. */
export class NotCanonical extends Error {
  override readonly name = "NotCanonical"
  /** `number`: not finite. `surrogate`: a text is not well-formed. `type`: not JSON. `depth`: nested too deep, or in a circle. */
  readonly reason: "number" | "surrogate" | "type" | "depth"

  constructor(reason: NotCanonical["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The RFC 8785 text of a value.
 *
 * - Fails: throws `NotCanonical` for what JSON cannot say: numbers that are not finite, lone surrogates, `undefined`, functions, bigint,
 *   symbols, class instances, holes, more than `maxDepth` open containers (a circle has endlessly many).
 * - Spec: RFC 8785 section 3.2.
 */
export const canonicalize = (value: unknown, maxDepth = MAX_CANONICAL_DEPTH): string =>
  // JSON.stringify writes numbers and strings exactly as RFC 8785 wants them; only the order of names is ours to see to.
  inspect(value, maxDepth) ? JSON.stringify(value) : write(value as JsonValue)

/** The UTF-8 of {@link canonicalize}. */
export const canonicalBytes = (value: unknown, maxDepth = MAX_CANONICAL_DEPTH): Uint8Array => utf8(canonicalize(value, maxDepth))

/** Refuses what is not JSON; answers whether all names already stand in canonical order. */
const inspect = (value: unknown, room: number): boolean => {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new NotCanonical("surrogate", "A text holds a lone surrogate, which has no UTF-8 form. Send well-formed text.")
      return true
    case "number":
      if (!Number.isFinite(value)) throw new NotCanonical("number", `JSON has no ${value}. Send a finite number.`)
      return true
    case "boolean":
      return true
    case "object": {
      if (value === null) return true
      if (room === 0) throw new NotCanonical("depth", "A value is nested too deep, or contains itself. Flatten it.")
      return Array.isArray(value) ? inspectArray(value, room - 1) : inspectObject(value, room - 1)
    }
    default:
      throw new NotCanonical("type", `JSON has no ${typeof value}. Leave the member out, or use null.`)
  }
}

const inspectArray = (array: ReadonlyArray<unknown>, room: number): boolean => {
  let ordered = true
  // By index, so that a hole is seen as the undefined it is.
  for (let i = 0; i < array.length; i++) ordered = inspect(array[i], room) && ordered
  // An own or inherited toJSON on an array would be called by JSON.stringify.
  return ordered && (array as { toJSON?: unknown }).toJSON === undefined
}

const inspectObject = (object: object, room: number): boolean => {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonical("type", "Only plain objects and arrays are JSON; this is an instance of a class. Convert it first.")
  }
  let ordered = true
  let before: string | null = null
  // Enumeration order, since that is the order JSON.stringify would write: names that look like integers come first.
  for (const name of Object.keys(object)) {
    inspect(name, room)
    ordered = inspect((object as Record<string, unknown>)[name], room) && ordered && (before === null || before < name)
    before = name
  }
  return ordered
}

const write = (value: JsonValue): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  const object = value as { readonly [name: string]: JsonValue }
  // The default sort compares UTF-16 code units, which is the order RFC 8785 names.
  return `{${Object.keys(object).sort().map((name) => `${JSON.stringify(name)}:${write(object[name]!)}`).join(",")}}`
}
