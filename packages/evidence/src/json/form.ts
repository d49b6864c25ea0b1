/**
 * The form of a record, checked byte by byte: nothing is parsed into values and nothing is written again to compare.
 *
 * This runs over every record of every pack. It reads four bytes at a time inside strings, allocates nothing, and
 * leaves the rare cases
 * (escapes, text outside ASCII) to `form-text.ts`.
 */
import { compareNames, stringTail } from "./form-text.ts"

/** Containers that may be open at once in a record. Spec: format 1 section 1. */
export const MAX_RECORD_DEPTH = 32

/**
 * Why bytes are not in form: `syntax` (not JSON, or white space), `utf8`, `escape` (not the one way RFC 8785 escapes,
 * lone surrogates
 * included), `number` (not an integer within ±(2^53 - 1), or written otherwise), `order` (names not ascending),
 * `duplicate`, `depth`.
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
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * The scanner. Each method takes an index and returns the index behind what it read, or -1 after it has set `problem`
 * and `problemAt`.
 *
 * It may read past the end its caller has in mind, never past the array: the caller compares where it stopped.
 */
export class FormScanner {
  bytes: Uint8Array = new Uint8Array(0)
  /** The same bytes, to read words from any index. */
  view: DataView = new DataView(new ArrayBuffer(0))
  problem: FormReason = "syntax"
  problemAt = 0

  /** Sets the bytes to scan; cheap when they lie in the buffer of the last call. */
  attach(bytes: Uint8Array): void {
    if (bytes === this.bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
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

  /** The content of a string, from behind its opening quote; returns the index OF its closing quote. */
  string(at: number): number {
    const view = this.view
    const last = view.byteLength - 4
    while (at <= last) {
      const word = view.getInt32(at, true)
      // The high bit of a byte is set where it is below a space, a quote, a backslash, or not ASCII. A borrow can only
      // reach bytes above a true hit.
      const stops =
        ((word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101) | word) &
        0x80808080
      if (stops !== 0) {
        at += (31 - Math.clz32(stops & -stops)) >> 3
        return this.bytes[at] === QUOTE ? at : stringTail(this, at)
      }
      at += 4
    }
    return stringTail(this, at)
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

  /** Whether the name at [name, nameEnd) comes after the one at [before, beforeEnd). */
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

/** Whether the common beginning of two names ends inside an escape: its letters then stand for another character. */
const escapedBefore = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let i = Math.max(from, to - 5); i < to; i++) if (bytes[i] === 0x5c) return true
  return false
}
