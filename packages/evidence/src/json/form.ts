/**
 * The form of a record, checked byte by byte. Nothing is parsed into values, and nothing is written again to compare.
 *
 * This runs over every record of every pack and allocates nothing for names and texts in plain ASCII.
 */
import { fromUtf8 } from "../bytes.ts"

/** Containers that may be open at once in a record. Spec: format 1 section 1. */
export const MAX_RECORD_DEPTH = 32

/**
 * Why bytes are not in form: `syntax` (not JSON, or white space), `utf8`, `escape` (not the one way RFC 8785 escapes,
 * lone surrogates included), `number` (not an integer within ±(2^53 - 1), or written otherwise), `order` (names not
 * ascending), `duplicate`, `depth`. Spec: format 1 section 1.1.
 */
export type FormReason = "syntax" | "utf8" | "escape" | "number" | "order" | "duplicate" | "depth"

/** The first thing found wrong, and where. */
export interface FormProblem {
  readonly reason: FormReason
  /** Index into the bytes that were given. */
  readonly offset: number
}

/**
 * Checks that bytes [start, end) are one JSON value in RFC 8785 form within the profile of format 1: integers only,
 * bounded depth.
 *
 * - Spec: format 1 section 1, RFC 8785 section 3.2.
 */
export const checkForm = (
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
  maxDepth = MAX_RECORD_DEPTH
): FormProblem | null => {
  const form = new FormScanner()
  form.attach(bytes)
  const at = form.value(start, maxDepth)
  if (at === end) return null
  // Nothing stops the scan at `end`: a value that ran over it is as wrong as one that stopped short.
  if (at >= 0 || form.problemAt >= end) return { reason: "syntax", offset: Math.min(at < 0 ? end : at, end) }
  return { reason: form.problem, offset: form.problemAt }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** 1 for each byte that stands for itself in a string: ASCII from the space on, but no quote and no backslash. */
const isPlain = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256).fill(1, 0x20, 0x80)
  table[QUOTE] = 0
  table[BACKSLASH] = 0
  return table
})()

/**
 * The scanner. Each method takes an index and returns the index behind what it read, or -1 after it has set `problem`
 * and `problemAt`.
 *
 * It may read past the end its caller has in mind, never past the array: the caller compares where it stopped.
 */
export class FormScanner {
  bytes: Uint8Array = new Uint8Array(0)
  problem: FormReason = "syntax"
  problemAt = 0

  /** Sets the bytes to scan. */
  attach(bytes: Uint8Array): void {
    this.bytes = bytes
  }

  /** Any value; `room` is how many containers may still be opened. */
  value(at: number, room: number): number {
    const first = this.bytes[at]!
    if (first === QUOTE) {
      const close = this.string(at + 1)
      return close < 0 ? -1 : close + 1
    }
    if (first === OPEN_OBJECT) return this.object(at, room)
    if (first === MINUS || (first >= ZERO && first <= NINE)) return this.integer(at)
    if (first === OPEN_LIST) return this.list(at, room)
    return this.#literal(at)
  }

  /** An object; `at` is its opening brace. */
  object(at: number, room: number): number {
    const bytes = this.bytes
    if (room === 0) return this.fail("depth", at)
    if (bytes[++at] === CLOSE_OBJECT) return at + 1
    let before = -1
    let beforeEnd = -1
    for (;;) {
      if (bytes[at] !== QUOTE) return this.fail("syntax", at)
      const name = at + 1
      const close = this.string(name)
      if (close < 0) return -1
      if (before >= 0 && !this.ascends(before, beforeEnd, name, close)) return -1
      if (bytes[close + 1] !== COLON) return this.fail("syntax", close + 1)
      at = this.value(close + 2, room - 1)
      if (at < 0) return -1
      const next = bytes[at]
      if (next === CLOSE_OBJECT) return at + 1
      if (next !== COMMA) return this.fail("syntax", at)
      at++
      before = name
      beforeEnd = close
    }
  }

  /** A list; `at` is its opening bracket. */
  list(at: number, room: number): number {
    const bytes = this.bytes
    if (room === 0) return this.fail("depth", at)
    if (bytes[++at] === CLOSE_LIST) return at + 1
    for (;;) {
      at = this.value(at, room - 1)
      if (at < 0) return -1
      const next = bytes[at]
      if (next === CLOSE_LIST) return at + 1
      if (next !== COMMA) return this.fail("syntax", at)
      at++
    }
  }

  /** The content of a string, from behind its opening quote. Returns the index OF its closing quote. */
  string(at: number): number {
    const bytes = this.bytes
    for (;;) {
      while (isPlain[bytes[at]!] === 1) at++
      const byte = bytes[at]!
      if (byte === QUOTE) return at
      if (byte === BACKSLASH) {
        const length = escapeLength(bytes, at)
        if (length === 0) return this.fail("escape", at)
        at += length
      } else if (byte >= 0x80) {
        const length = sequenceLength(bytes, at)
        if (length === 0) return this.fail("utf8", at)
        at += length
      } else return this.fail("syntax", at)
    }
  }

  /** An integer as the profile writes it: `0` or `-?[1-9][0-9]*`, at most 2^53 - 1 either way. */
  integer(at: number): number {
    const bytes = this.bytes
    const start = at
    if (bytes[at] === MINUS) at++
    const first = bytes[at]!
    if (first === ZERO) at = at === start ? at + 1 : at
    else {
      const digits = at
      let value = 0
      for (let digit = first; digit >= ZERO && digit <= NINE; digit = bytes[++at]!) value = value * 10 + (digit - ZERO)
      if (at - digits > 16 || value > Number.MAX_SAFE_INTEGER) return this.fail("number", start)
    }
    const next = bytes[at]!
    // A second digit, a fraction, an exponent, -0, or a bare minus.
    if (
      at === start ||
      bytes[at - 1] === MINUS ||
      (next >= ZERO && next <= NINE) ||
      next === 0x2e ||
      next === 0x65 ||
      next === 0x45
    )
      return this.fail("number", start)
    return at
  }

  #literal(at: number): number {
    const bytes = this.bytes
    switch (bytes[at]) {
      case 0x74:
        if (bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65) return at + 4
        break
      case 0x66:
        if (bytes[at + 1] === 0x61 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x73 && bytes[at + 4] === 0x65)
          return at + 5
        break
      case 0x6e:
        if (bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c) return at + 4
        break
    }
    return this.fail("syntax", at)
  }

  /** True when the name at [name, nameEnd) comes after the one at [before, beforeEnd). */
  ascends(before: number, beforeEnd: number, name: number, nameEnd: number): boolean {
    const bytes = this.bytes
    let i = before
    let j = name
    while (i < beforeEnd && j < nameEnd && bytes[i] === bytes[j]) {
      i++
      j++
    }
    const a = i < beforeEnd ? bytes[i]! : 0
    const b = j < nameEnd ? bytes[j]! : 0
    // Bytes decide while both names are plain from here on; an escape or a byte outside ASCII hides another order.
    if (a < 0x80 && b < 0x80 && a !== 0x5c && b !== 0x5c && !escapedBefore(bytes, name, j)) {
      if (a < b) return true
      this.fail(a === b ? "duplicate" : "order", name)
      return false
    }
    const order = compareNames(bytes, before, beforeEnd, name, nameEnd)
    if (order < 0) return true
    this.fail(order === 0 ? "duplicate" : "order", name)
    return false
  }

  /** Notes a problem and answers -1. */
  fail(problem: FormReason, at: number): number {
    this.problem = problem
    this.problemAt = Math.min(at, this.bytes.length)
    return -1
  }
}

/** True when the common beginning of two names ends inside an escape: its letters then stand for another character. */
const escapedBefore = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let i = Math.max(from, to - 5); i < to; i++) if (bytes[i] === 0x5c) return true
  return false
}

/**
 * Length of the escape at `at` when RFC 8785 writes it so, else 0: two letters, or `\u00xx` for other control
 * characters.
 */
const escapeLength = (bytes: Uint8Array, at: number): number => {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x62: // \b
    case 0x66: // \f
    case 0x6e: // \n
    case 0x72: // \r
    case 0x74: // \t
      return 2
    case 0x75: {
      if (bytes[at + 2] !== 0x30 || bytes[at + 3] !== 0x30) return 0
      const high = bytes[at + 4]! - 0x30
      if (high !== 0 && high !== 1) return 0
      const digit = bytes[at + 5]!
      const low = digit >= 0x30 && digit <= 0x39 ? digit - 0x30 : digit >= 0x61 && digit <= 0x66 ? digit - 0x57 : -1
      if (low < 0) return 0
      const code = high * 16 + low
      return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 0 : 6
    }
    default:
      return 0
  }
}

/**
 * Length of the well-formed UTF-8 sequence at `at`, else 0: no overlong forms, no surrogates, nothing past U+10FFFF.
 *
 * - Spec: Unicode 15 table 3-7.
 */
export const sequenceLength = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at]!
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  const second = bytes[at + 1] ?? 0
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < least || second > most) return 0
  if (first < 0xe0) return 2
  if (!continues(bytes[at + 2])) return 0
  if (first < 0xf0) return 3
  return continues(bytes[at + 3]) ? 4 : 0
}

const continues = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Order of two names, whose strings are known to be in form, by UTF-16 code units: negative, zero or positive. */
const compareNames = (bytes: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): number => {
  const left = nameAt(bytes, a, aEnd)
  const right = nameAt(bytes, b, bEnd)
  return left < right ? -1 : left === right ? 0 : 1
}

const nameAt = (bytes: Uint8Array, start: number, end: number): string =>
  JSON.parse(`"${fromUtf8(bytes.subarray(start, end))}"`) as string
