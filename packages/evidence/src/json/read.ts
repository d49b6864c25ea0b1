/** Reads JSON that strangers send, and loses nothing of it. */
import { fromUtf8 } from "../bytes.ts"
import { ExactReader } from "./exact.ts"
import { inOneGo, type Slices } from "../slices.ts"
import { sequenceLength } from "./form.ts"
import { survey } from "./survey.ts"

/** The place of a value: names and indexes from the root. */
export type JsonPath = ReadonlyArray<string | number>

/** Bounds of a reading, and which values must not lose anything. */
export interface ReadOptions {
  /** Containers that may be open at once; default 64. */
  readonly maxDepth?: number
  readonly maxBytes?: number
  /**
   * Selects the values that are committed as they were received: such a value that has no exact RFC 8785 form becomes a
   * `RawJson`.
   * Called per value from the root down, and no further below a value it selects. It must not keep the path, which
   * changes as reading continues.
   */
  readonly keepRaw?: (path: JsonPath) => boolean
}

/** Bounds on the content of one text, for readers of untrusted input. */
export interface ReadBounds {
  /** Commas and opening brackets outside strings, at most: about as many as there are values. */
  readonly maxPlaces?: number
  /** Members of one object, at most; not less than {@link ONE_GO_PLACES}. */
  readonly maxMembers?: number
  /** The same inside of what `keepRaw` selects. */
  readonly maxKeptMembers?: number
}

/**
 * Why bytes cannot be read: `size` (over `maxBytes`), `utf8`, `syntax`, `depth`, `duplicate` (a name twice, outside
 * `keepRaw`).
 */
export type ReadReason = "size" | "utf8" | "syntax" | "depth" | "duplicate"

/** The same within {@link ReadBounds}: `places` and `members` are over the bounds of those names. */
export type BoundedReason = ReadReason | "places" | "members"

/** A value, or where and why there is none. */
export type ReadResult<Reason = ReadReason> =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: Reason; readonly offset: number; readonly path: JsonPath }

/** Containers that may be open at once in what callers send. */
export const DEFAULT_READ_DEPTH = 64

/**
 * Reads one JSON value.
 *
 * What `JSON.parse` would lose without a word is kept or refused: a name that stands twice, a lone surrogate's escape,
 * a number that is not
 * finite, an integer beyond ±(2^53 - 1). Inside a value selected by `keepRaw` any of these makes it a `RawJson`;
 * elsewhere a double name
 * is refused, and the other three come through as JavaScript reads them, for validation to refuse. `__proto__` is an
 * ordinary name.
 *
 * Almost all input has nothing of the kind: one survey of the bytes proves it, and then `JSON.parse` does the work.
 *
 * - Fails: never throws; the first problem is answered with its byte offset and path.
 * - Spec: RFC 8259; RFC 8785 section 3.1 for what has no exact form.
 */
export const readJson = (bytes: Uint8Array, options: ReadOptions = {}): ReadResult =>
  // Without bounds there is no other reason.
  inOneGo(reading(bytes, options, {}, Number.POSITIVE_INFINITY)) as ReadResult

/** Places of a text that `JSON.parse` reads in one slice. Unit: commas and opening brackets outside strings. */
export const ONE_GO_PLACES = 16_384
/** Bytes of a text that is read in one slice, where it has not too many places. */
const ONE_GO_BYTES = 262_144

/**
 * {@link readJson} in slices of a few milliseconds, and within bounds. A text of up to 256 KiB with few values is one
 * slice. Spec: decisions 0009 and 0036; docs/what-is-fast.md.
 */
export const readJsonInSlices = (
  bytes: Uint8Array,
  options: ReadOptions & ReadBounds = {}
): Slices<ReadResult<BoundedReason>> => reading(bytes, options, options, ONE_GO_PLACES)

function* reading(
  bytes: Uint8Array,
  options: ReadOptions,
  bounds: ReadBounds,
  oneGoPlaces: number
): Slices<ReadResult<BoundedReason>> {
  if (options.maxBytes !== undefined && bytes.length > options.maxBytes)
    return { ok: false, reason: "size", offset: options.maxBytes, path: [] }
  const isLong = bytes.length > ONE_GO_BYTES
  const text = fromUtf8(bytes)
  if (isLong) yield
  if (text === null) return { ok: false, reason: "utf8", offset: firstBadUtf8(bytes), path: [] }
  const maxDepth = options.maxDepth ?? DEFAULT_READ_DEPTH
  const found = survey(bytes, maxDepth, bounds.maxPlaces)
  // Before millions of values are made.
  if (found.tooManyAt !== null) return { ok: false, reason: "places", offset: found.tooManyAt, path: [] }
  if (isLong) yield
  if (found.plain && found.places <= oneGoPlaces) {
    const value = parse(text)
    if (value !== undefined && countNames(value) === found.names) return { ok: true, value }
    if (isLong) yield
  }
  return yield* new ExactReader(text, maxDepth, options.keepRaw ?? (() => false), bounds).read()
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Names in a value: fewer than colons in its text when a name stood twice. */
const countNames = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countNames(item)
    return count
  }
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]
    count += typeof member === "object" ? 1 + countNames(member) : 1
  }
  return count
}

const firstBadUtf8 = (bytes: Uint8Array): number => {
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return at
}
