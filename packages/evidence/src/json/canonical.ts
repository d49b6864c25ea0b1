/** The canonical form of JSON. Spec: RFC 8785 (JCS). */
import { utf8 } from "../bytes.ts"
import type { Slices } from "../slices.ts"
import type { JsonValue } from "./value.ts"

/**
 * Default of `maxDepth`: levels of nested containers. Enough for what A2A signatures allow, and far from any stack's
 * end.
 */
export const MAX_CANONICAL_DEPTH = 128

/** A value has no RFC 8785 form. Spec: RFC 8785. */
export class NotCanonical extends Error {
  override readonly name = "NotCanonical"
  /**
   * `number`: not finite. `surrogate`: a text is not well-formed. `type`: not JSON. `depth`: nested too deep, or in a
   * circle.
   * `size`: longer than allowed.
   */
  readonly reason: "number" | "surrogate" | "type" | "depth" | "size"

  constructor(reason: NotCanonical["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The RFC 8785 text of a value.
 *
 * - Fails: throws `NotCanonical` for what JSON cannot say: numbers that are not finite, lone surrogates, `undefined`,
 *   functions, bigint,
 *   symbols, class instances, holes, more than `maxDepth` open containers (a circle has endlessly many).
 * - Spec: RFC 8785 section 3.2.
 */
export const canonicalize = (value: unknown, maxDepth = MAX_CANONICAL_DEPTH): string =>
  // JSON.stringify writes numbers and strings exactly as RFC 8785 wants them; only the order of names is ours to see
  // to.
  inspect(value, maxDepth, unbounded) ? JSON.stringify(value) : write(value as JsonValue)

/**
 * The {@link canonicalize} text of a value whose numbers are integers within ±(2^53 - 1), as in a record. Texts are
 * checked last, which is several times faster.
 *
 * - Fails: as `canonicalize`, and with reason `number` for any other number.
 * - Spec: RFC 8785; format 1 section 1.
 */
export const canonicalizeIntegers = (value: unknown, maxDepth: number): string => {
  if (!inspect(value, maxDepth, integers)) return write(value as JsonValue)
  const text = JSON.stringify(value)
  // JSON.stringify hides a lone surrogate in an escape; this may also be a backslash in somebody's text, which the slow
  // way tells apart.
  return text.includes("\\ud") ? write(value as JsonValue) : text
}

/** The UTF-8 of {@link canonicalize}. Spec: RFC 8785. */
export const canonicalBytes = (value: unknown, maxDepth = MAX_CANONICAL_DEPTH): Uint8Array =>
  utf8(canonicalize(value, maxDepth))

/** Members and items of a value that is written in one slice, two milliseconds' work at most. */
const SLICE_PLACES = 2_048
/** Characters that are written before the next slice. */
const SLICE_CHARACTERS = 131_072

/**
 * {@link canonicalize} in slices of a few milliseconds. A value with few members and items is one slice.
 *
 * The names of one object are sorted in one slice, so a caller bounds how many members an object has.
 *
 * - Fails: as `canonicalize`, and with reason `size` as soon as the text is surely longer than `maxLength` UTF-16
 *   units.
 * - Spec: RFC 8785; decision 0036.
 */
export function* canonicalizeInSlices(value: unknown, maxDepth: number, maxLength: number): Slices<string> {
  const small = smallForm(value, maxDepth)
  if (small !== null) return small
  const out: Out = { pieces: [], left: maxLength, sliceLeft: SLICE_CHARACTERS, placesLeft: SLICE_PLACES }
  yield
  yield* writeLarge(value as object, maxDepth, out)
  return out.pieces.join("")
}

/** Output written so far, and the room left: in all, and in this slice. */
interface Out {
  readonly pieces: Array<string>
  left: number
  sliceLeft: number
  placesLeft: number
}

const put = (out: Out, piece: string): void => {
  out.pieces.push(piece)
  out.left -= piece.length
  out.sliceLeft -= piece.length
  out.placesLeft--
  if (out.left < 0) throw tooLong()
}

/** True once the slice is over; another begins then. */
const isSliceOver = (out: Out): boolean => {
  if (out.sliceLeft > 0 && out.placesLeft > 0) return false
  out.sliceLeft = SLICE_CHARACTERS
  out.placesLeft = SLICE_PLACES
  return true
}

const tooLong = (): NotCanonical => new NotCanonical("size", "The value is too large.")

/** The text of a value; null when it has too many members and items for one slice. */
const smallForm = (value: unknown, room: number): string | null => {
  if (typeof value !== "object" || value === null) {
    inspect(value, room, unbounded)
    return JSON.stringify(value)
  }
  const budget = { left: SLICE_PLACES, isOfIntegers: false }
  const ordered = inspect(value, room, budget)
  return budget.left < 0 ? null : ordered ? JSON.stringify(value) : write(value as JsonValue)
}

const unbounded: Budget = { left: Number.POSITIVE_INFINITY, isOfIntegers: false }
const integers: Budget = { left: Number.POSITIVE_INFINITY, isOfIntegers: true }

/** Writes a list or an object whose form is not small, member by member. {@link smallForm} has checked its type. */
function* writeLarge(value: object, room: number, out: Out): Slices<void> {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      put(out, index === 0 ? "[" : ",")
      yield* writeMember(value[index], room, out)
    }
    put(out, value.length === 0 ? "[]" : "]")
    return
  }
  const names = Object.keys(value)
  // The shortest member is `"":0,`. Before they are sorted, which takes as long again.
  if (names.length * 5 > out.left) throw tooLong()
  names.sort()
  yield
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    inspect(name, room, unbounded)
    put(out, `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`)
    yield* writeMember((value as Record<string, unknown>)[name], room, out)
  }
  put(out, names.length === 0 ? "{}" : "}")
}

function* writeMember(value: unknown, room: number, out: Out): Slices<void> {
  const text = smallForm(value, room - 1)
  if (text === null) return yield* writeLarge(value as object, room - 1, out)
  put(out, text)
  if (isSliceOver(out)) yield
}

/** Members and items that may still be inspected. Below zero the inspection stopped, and its answer means nothing. */
interface Budget {
  left: number
  /** True where numbers are integers only, and texts are checked when they are written. */
  readonly isOfIntegers: boolean
}

/** Refuses what is not JSON; answers whether all names already stand in canonical order. */
const inspect = (value: unknown, room: number, budget: Budget): boolean => {
  switch (typeof value) {
    case "string":
      if (!budget.isOfIntegers) checkText(value)
      return true
    case "number":
      if (!(budget.isOfIntegers ? Number.isSafeInteger(value) : Number.isFinite(value)))
        throw new NotCanonical("number", `JSON has no ${value}. Send a finite number.`)
      return true
    case "boolean":
      return true
    case "object": {
      if (value === null) return true
      if (room === 0) throw new NotCanonical("depth", "A value is nested too deep, or contains itself. Flatten it.")
      return Array.isArray(value) ? inspectArray(value, room - 1, budget) : inspectObject(value, room - 1, budget)
    }
    default:
      throw new NotCanonical("type", `JSON has no ${typeof value}. Leave the member out, or use null.`)
  }
}

const inspectArray = (array: ReadonlyArray<unknown>, room: number, budget: Budget): boolean => {
  let ordered = true
  budget.left -= array.length
  // By index, so that a hole is seen as the undefined it is.
  for (let i = 0; i < array.length && budget.left >= 0; i++) ordered = inspect(array[i], room, budget) && ordered
  // An own or inherited toJSON on an array would be called by JSON.stringify.
  return ordered && (array as { toJSON?: unknown }).toJSON === undefined
}

const inspectObject = (object: object, room: number, budget: Budget): boolean => {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonical(
      "type",
      "Only plain objects and arrays are JSON; this is an instance of a class. Convert it first."
    )
  }
  let ordered = true
  let before: string | null = null
  // Enumeration order, since that is the order JSON.stringify would write: names that read as integers come first.
  const names = Object.keys(object)
  budget.left -= names.length
  for (const name of names) {
    if (budget.left < 0) return false
    inspect(name, room, budget)
    ordered =
      inspect((object as Record<string, unknown>)[name], room, budget) && ordered && (before === null || before < name)
    before = name
  }
  return ordered
}

const checkText = (text: string): void => {
  if (!text.isWellFormed())
    throw new NotCanonical(
      "surrogate",
      "A text holds a lone surrogate, which has no UTF-8 form. Send well-formed text."
    )
}

/** Writes a value that was inspected. */
const write = (value: JsonValue): string => {
  if (typeof value === "string") return quote(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  const object = value as { readonly [name: string]: JsonValue }
  // The default sort compares UTF-16 code units, which is the order RFC 8785 names.
  return `{${Object.keys(object)
    .sort()
    .map((name) => `${quote(name)}:${write(object[name]!)}`)
    .join(",")}}`
}

const quote = (text: string): string => {
  checkText(text)
  return JSON.stringify(text)
}
