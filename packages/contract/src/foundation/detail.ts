/**
 * One problem of an input, as the specification's `HTTPValidationError` lists it. Spec: document 1 section 2,
 * Validation error; api.md, Conventions.
 */

/**
 * The `type` names in use: pydantic's. `type` and `loc` are contract, `msg` texts are not. Spec: api.md, Conventions.
 */
export const detailTypes = [
  "missing",
  "extra_forbidden",
  "json_invalid",
  "string_type",
  "string_too_short",
  "string_too_long",
  "string_pattern_mismatch",
  "int_type",
  "int_parsing",
  "float_type",
  "bool_type",
  "greater_than_equal",
  "less_than_equal",
  "literal_error",
  "enum",
  "list_type",
  "dict_type",
  "datetime_parsing",
  "value_error",
  "union_tag_invalid",
  "too_long",
  "too_short"
] as const

/** One of pydantic's error types. */
export type DetailType = (typeof detailTypes)[number]

/** Slots of an input: the first element of `loc`. */
export type Slot = "body" | "query" | "path"

/** A problem with one value of an input, as in the body of 422. Spec: document 1 section 2, "Validation error". */
export interface DetailItem {
  /** Slot, then member names and indexes, all as strings. */
  readonly loc: ReadonlyArray<string>
  readonly msg: string
  readonly type: DetailType
  /** The received value, cut at 256 characters; null when it is secret, absent or has no JSON form. */
  readonly input: unknown
  /** The bound that was missed; `{}` when there is none. */
  readonly ctx: { readonly [name: string]: unknown }
}

/**
 * Characters of an input that an error repeats.
 *
 * - Unit: UTF-16 units. Enough to recognise what was sent; a 16 MiB body is not sent back.
 */
export const INPUT_CUT = 256

/** Members whose value no error repeats, wherever they stand. */
const secretMembers: ReadonlySet<string> = new Set([
  "key",
  "secret",
  "token",
  "password",
  "authorization",
  "api_key",
  "client_secret",
  "private_key"
])

/** Makes a detail item. Cuts `input`, and hides it under secret members. */
export const detailItem = (
  loc: ReadonlyArray<string>,
  type: DetailType,
  msg: string,
  input: unknown = null,
  ctx: { readonly [name: string]: unknown } = {}
): DetailItem => ({ loc: loc.map((part) => cut(part)), msg, type, input: shown(loc, input), ctx })

const shown = (loc: ReadonlyArray<string>, input: unknown): unknown => {
  if (loc.some((part) => secretMembers.has(part.toLowerCase()))) return null
  switch (typeof input) {
    case "string":
      return cut(input)
    case "number":
      return Number.isFinite(input) ? input : null
    case "boolean":
      return input
    case "object":
      return input === null ? null : shownObject(input)
    default:
      return null
  }
}

const shownObject = (input: object): unknown => {
  if (
    !Array.isArray(input) &&
    Object.getPrototypeOf(input) !== Object.prototype &&
    Object.getPrototypeOf(input) !== null
  )
    return null
  // Each value takes a character at least: behind so many nothing is shown any more.
  let left = INPUT_CUT
  const text = JSON.stringify(beginning(input), (name, value: unknown) => {
    if (--left < 0 || (name !== "" && secretMembers.has(name.toLowerCase()))) return null
    return beginning(value)
  })
  return text.length <= INPUT_CUT ? JSON.parse(text) : cut(text)
}

/** The beginning of a value that fills the cut, so that megabytes are not written out to show 256 characters. */
const beginning = (value: unknown): unknown => {
  if (typeof value === "string") return value.length > INPUT_CUT ? value.slice(0, INPUT_CUT) : value
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.length > INPUT_CUT ? value.slice(0, INPUT_CUT) : value
  const names = Object.keys(value)
  return names.length > INPUT_CUT
    ? Object.fromEntries(
        names.slice(0, INPUT_CUT).map((name) => [name, (value as { readonly [name: string]: unknown })[name]])
      )
    : value
}

const cut = (text: string): string => {
  if (text.length <= INPUT_CUT) return text
  const last = text.charCodeAt(INPUT_CUT - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? INPUT_CUT - 1 : INPUT_CUT)
}
