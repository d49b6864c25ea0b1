/**
 * The bricks of every input shape: texts, identifiers, integers, times, free JSON.
 *
 * Each check carries pydantic's name of what it finds in its annotation `detail`, which `details.ts` reads. A value has
 * one
 * problem at a time: checks abort. Spec: api.md, Conventions.
 */
import { isNewForeignName } from "@flyball/evidence/foreign-name"
import { Effect, Schema, SchemaGetter } from "effect"
import type { DetailType } from "./detail.ts"
import { idPattern, type IdKind } from "./ids.ts"
import { MAX_INTEGER } from "./limits.ts"
import { parseRfc3339 } from "./rfc3339.ts"
import { isVisible } from "./visible.ts"

/** Detail of a failed check. */
export interface CheckDetail {
  readonly type: DetailType
  readonly msg: string
  readonly ctx?: { readonly [name: string]: unknown }
}

/**
 * A check that knows its pydantic name.
 *
 * `keywords` is how JSON Schema says it, where `detail` does not tell: the interface description reads both.
 */
export const check = <T>(
  holds: (value: T) => boolean,
  detail: CheckDetail,
  keywords: { readonly [keyword: string]: unknown } = {}
) => Schema.makeFilter<T>((value) => holds(value), { detail, keywords, message: detail.msg }, true)

/**
 * An optional member; null means the same as absent, but in the body of a PATCH, where it empties what may be empty.
 */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/**
 * A word that may be left out, and then is `value`.
 *
 * Not for what has items or members: its form is then checked before its checks run, and their findings would not be
 * listed beside others. {@link leftOut} is.
 */
export const defaulted = <S extends Schema.Top & { readonly Encoded: string | boolean }>(
  schema: S,
  value: S["Encoded"]
) => schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value))).annotate({ leftOut: value })

/**
 * A member or a parameter that may be left out; its reader then takes `value`, and the interface description says so.
 */
export const leftOut = <S extends Schema.Top>(schema: S, value: S["Type"]) =>
  Schema.optionalKey(schema.annotate({ leftOut: value }))

const codePoints = (text: string): number => {
  let count = text.length
  for (let at = 1; at < text.length; at++) {
    const pair = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00
    if (pair) count--
  }
  return count
}

// A code point has one unit or two: only between the two need they be counted, and a text of megabytes is not.
const atLeast = (length: number) =>
  check<string>((text) => text.length >= length && (text.length >= 2 * length || codePoints(text) >= length), {
    type: "string_too_short",
    msg: `String should have at least ${length} character${length === 1 ? "" : "s"}`,
    ctx: { min_length: length }
  })
const atMost = (length: number) =>
  check<string>((text) => text.length <= length || (text.length <= 2 * length && codePoints(text) <= length), {
    type: "string_too_long",
    msg: `String should have at most ${length} characters`,
    ctx: { max_length: length }
  })
const storable = check<string>((text) => text.isWellFormed() && !text.includes("\0"), {
  type: "value_error",
  msg: "Text cannot contain U+0000 or an unpaired surrogate"
})
const nfcUpTo = (max: number) =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: string) => (isSurelyOver(text, max) ? text : text.normalize("NFC"))),
      encode: SchemaGetter.transform((text: string) => text)
    })
  )

/** Code points of the longest canonical decomposition: so many at most join into one. A test checks each code point. */
const MOST_JOINED = 4

/**
 * True when the NFC form of a text has more than `max` code points, as far as a linear check can decide.
 *
 * The engine sorts combining marks by insertion: 200 KB of them take it half a minute. A text that is surely too long
 * is not normalised, and its length is refused as it stands. No text whose NFC form fits is among these.
 */
const isSurelyOver = (text: string, max: number): boolean => {
  if (text.length <= max) return false
  if (text.length > 2 * MOST_JOINED * max || codePoints(text) > MOST_JOINED * max) return true
  let alone = 0
  for (const [marks] of text.matchAll(markRuns)) alone += marksAlone(marks)
  return alone > max
}

/** Runs that hold more marks than one character can take: at most three combine with the character before them. */
const markRuns = /\p{M}{4,}/gu

/** How many of these characters stay on their own in NFC, at least. */
const marksAlone = (marks: string): number => {
  let alone = 0
  let run = 0
  for (const mark of marks) {
    run = isCombining(mark) ? run + 1 : 0
    if (run >= MOST_JOINED) alone++
  }
  return alone
}

/** Of the last class of combining marks: every other one is sorted to stand before it. */
const LAST_MARK = "\u0345"
const isCombining = (mark: string): boolean =>
  mark === LAST_MARK || !(LAST_MARK + mark).normalize("NFD").startsWith(LAST_MARK)

/**
 * Text that a person writes: NFC, its length in code points.
 *
 * - Refuses: more than `max` code points in NFC. Text that cannot fit is refused without being normalised; decision
 *   0036.
 */
export const text = (min: number, max: number) => {
  const nfc = nfcUpTo(max)
  return min === 0 ? nfc.check(storable, atMost(max)) : nfc.check(storable, atLeast(min), atMost(max))
}

/** Characters that end a line, control a terminal or a header, or change the direction of the text behind them. */
const steering = "\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069"
const oneLine = new RegExp(`^[^${steering}]*$`, "u")
const nameRule = "Text should have a visible character and no control characters"
const reasonRule = "Text should have a visible character"
const lineRule = "Text should be one line without control characters"

/**
 * The name of a person or a thing: 1 to `max` characters, one of them visible, and no control characters. A name that
 * only appears empty cannot be held to account.
 */
export const name = (max: number) =>
  text(1, max).check(
    check<string>(
      (value) => isVisible(value) && oneLine.test(value),
      { type: "value_error", msg: nameRule },
      { description: `${nameRule}.` }
    )
  )

/**
 * Why somebody did something: 1 to `max` characters on any lines, one of them visible. A blank is no reason.
 */
export const reason = (max: number) =>
  text(1, max).check(
    check<string>(isVisible, { type: "value_error", msg: reasonRule }, { description: `${reasonRule}.` })
  )

/** Up to `max` characters without control characters: a version, a make, an address. */
export const line = (max: number) =>
  text(0, max).check(
    check<string>(
      (value) => oneLine.test(value),
      { type: "value_error", msg: lineRule },
      { description: `${lineRule}.` }
    )
  )

const matching = (pattern: RegExp) =>
  check<string>((value) => pattern.test(value), {
    type: "string_pattern_mismatch",
    msg: `String should match pattern '${pattern.source}'`,
    ctx: { pattern: pattern.source }
  })

/** Text that matches a pattern and has 1 to `max` characters. */
export const patterned = (pattern: RegExp, max: number) =>
  Schema.String.check(atLeast(1), atMost(max), matching(pattern))

/** Text of one of the specification's patterns: no bound of length is checked that only follows from it. */
export const specifiedPattern = (pattern: RegExp) => Schema.String.check(matching(pattern))

/** A caller's identifier: it may stand in a record's body. */
export const identifier = (max: number) => patterned(/^[A-Za-z0-9._:/@+-]+$/, max)

const foreignRule = "Text should have visible characters with single spaces between them, in the form NFC"

/**
 * A name that others gave, of a tool, a server or a model: 1 to `max` code points, visible characters of any script
 * with single blanks between them. Another form of Unicode is refused and not normalised: it may be the name of
 * another tool.
 */
export const foreignName = (max: number) =>
  Schema.String.check(
    atLeast(1),
    atMost(max),
    check<string>(
      (value) => isNewForeignName(value, max),
      { type: "value_error", msg: foreignRule },
      { description: `${foreignRule}.` }
    )
  )

/** One of our ids. */
export const id = (kind: IdKind) => patterned(idPattern(kind), 64)

/** An org unit: a name, and not `*`, which means all of them. */
export const orgUnit = name(100).check(
  check<string>(
    (unit) => unit !== "*",
    { type: "value_error", msg: "An org unit cannot be called '*'" },
    { not: { const: "*" } }
  )
)

// Without invisible characters: such an address would read as another's.
const ofMailbox = String.raw`[^\s@<>",;:\\()[\]\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+`
const mailbox = new RegExp(`^${ofMailbox}@${ofMailbox}$`, "u")

/** An e-mail address, roughly: what has an @ with something visible on both sides, and can be written to a header. */
export const email = text(3, 254).check(
  check<string>(
    (address) => mailbox.test(address),
    { type: "value_error", msg: "value is not a valid email address" },
    { format: "email" }
  )
)

const wholeNumber = check<number>((value) => Number.isInteger(value), {
  type: "int_type",
  msg: "Input should be a valid integer"
})
const between = (min: number, max: number) =>
  [
    check<number>((value) => value >= min, {
      type: "greater_than_equal",
      msg: `Input should be greater than or equal to ${min}`,
      ctx: { ge: min }
    }),
    check<number>((value) => value <= max, {
      type: "less_than_equal",
      msg: `Input should be less than or equal to ${max}`,
      ctx: { le: max }
    })
  ] as const

/** An integer of a JSON body. */
export const integer = (min = 0, max = MAX_INTEGER) => Schema.Number.check(wholeNumber, ...between(min, max))

const integerText = Schema.String.check(
  check<string>((value) => /^-?\d{1,400}$/.test(value), {
    type: "int_parsing",
    msg: "Input should be a valid integer, unable to parse string as an integer"
  })
)
/** An integer of a path or a query. */
export const integerParam = (min = 0, max = MAX_INTEGER) =>
  integerText
    .pipe(
      Schema.decodeTo(Schema.Number, {
        decode: SchemaGetter.transform((value: string) => Number(value)),
        encode: SchemaGetter.transform((value: number) => String(value))
      })
    )
    .check(...between(min, max))

/** A time with any offset, checked and left as it was sent. */
const instantText = Schema.String.check(
  check<string>((value) => parseRfc3339(value) !== null, {
    type: "datetime_parsing",
    msg: "Input should be a valid RFC 3339 time with an offset"
  })
)
/** A time with any offset; it comes out as UTC with milliseconds, 24 characters. */
export const instant = instantText.pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((value: string) => parseRfc3339(value) ?? value),
    encode: SchemaGetter.transform((value: string) => value)
  })
)

/** One word of a closed list. */
export const oneOf = <const Words extends ReadonlyArray<string>>(words: Words) => Schema.Literals(words)

/** Any JSON. It may be the bytes received where it has no exact form: decision 0009. */
export const anyJson = Schema.Unknown

/** A list of `min` to `max` items. */
export const list = <S extends Schema.Top>(item: S, min: number, max: number) =>
  Schema.Array(item).check(
    check<ReadonlyArray<unknown>>((items) => items.length >= min, {
      type: "too_short",
      msg: `List should have at least ${min} items`,
      ctx: { min_length: min }
    }),
    check<ReadonlyArray<unknown>>((items) => items.length <= max, {
      type: "too_long",
      msg: `List should have at most ${max} items`,
      ctx: { max_length: max }
    })
  )

/**
 * Characters of the JSON text of a free object in a state document.
 *
 * - Unit: UTF-16 units. Documents are read whole and listed by the thousand.
 */
export const OBJECT_LIMIT = 65_536

/** A free JSON object of at most so many characters: plain, and exactly what JSON can say. */
export const jsonObjectUpTo = (limit: number) =>
  Schema.Record(Schema.String, Schema.Unknown).check(
    check<object>((value) => isExact(value, 32), {
      type: "value_error",
      msg:
        "The object has no exact JSON form: a number is out of range, a surrogate is unpaired, or it nests over " +
        "32 levels"
    }),
    check<object>((value) => JSON.stringify(value).length <= limit, {
      type: "too_long",
      msg: `The object's JSON text should have at most ${limit} characters`,
      ctx: { max_length: limit }
    })
  )

/** A free JSON object that a state document keeps. */
export const jsonObject = jsonObjectUpTo(OBJECT_LIMIT)

const isExact = (value: unknown, room: number): boolean => {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() && !value.includes("\0")
    case "number":
      return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    case "boolean":
      return true
    case "object": {
      if (value === null) return true
      if (room === 0) return false
      if (Array.isArray(value)) return value.every((item) => isExact(item, room - 1))
      const prototype: unknown = Object.getPrototypeOf(value)
      if (prototype !== Object.prototype && prototype !== null) return false
      return Object.entries(value).every(([name, member]) => isExact(name, room) && isExact(member, room - 1))
    }
    default:
      return false
  }
}
