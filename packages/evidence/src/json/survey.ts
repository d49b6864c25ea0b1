/**
 * A pass over the bytes of a JSON text that proves that `JSON.parse` loses nothing of it. It reads no values.
 *
 * Without it `exact.ts` would read every body. docs/what-is-fast.md has what that costs.
 */

/** Result of a survey. */
export interface Survey {
  /**
   * No lone surrogate's escape, no number that may be inexact, not nested too deep, not too many places, strings
   * closed. Says nothing about syntax.
   */
  readonly plain: boolean
  /** Colons outside strings: as many as the text has names. */
  readonly names: number
  /** Commas and opening brackets outside strings: about as many as the text has values. */
  readonly places: number
  /** Where there were too many of them; null where there were not, or the survey ended before. */
  readonly tooManyAt: number | null
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Surveys the bytes of a JSON text. `JSON.parse` must still accept it. */
export const survey = (bytes: Uint8Array, maxDepth: number, maxPlaces = Number.POSITIVE_INFINITY): Survey => {
  let names = 0
  let places = 0
  let depth = 0
  let at = 0
  const length = bytes.length
  while (at < length) {
    const byte = bytes[at]!
    switch (kindOf[byte]) {
      case STRING:
        at = stringEnd(bytes, at + 1)
        if (at < 0) return notPlain
        break
      case NUMBER: {
        const start = at
        while (at < length && kindOf[bytes[at]!] === NUMBER) at++
        if (!isExact(bytes, start, at)) return notPlain
        continue
      }
      case OPEN:
        if (++depth > maxDepth) return notPlain
        if (++places > maxPlaces) return { ...notPlain, tooManyAt: at }
        break
      case COMMA:
        if (++places > maxPlaces) return { ...notPlain, tooManyAt: at }
        break
      case CLOSE:
        depth--
        break
      case COLON:
        names++
        break
    }
    at++
  }
  return { plain: true, names, places, tooManyAt: null }
}

const notPlain: Survey = { plain: false, names: 0, places: 0, tooManyAt: null }

const STRING = 1
const NUMBER = 2
const OPEN = 3
const CLOSE = 4
const COLON = 5
const COMMA = 6

// The letters of an exponent are left out, since words have them too: a number with one counts as two here.
const kindOf = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256)
  for (const [letters, kind] of [
    ['"', STRING],
    ["-.0123456789", NUMBER],
    ["[{", OPEN],
    ["]}", CLOSE],
    [":", COLON],
    [",", COMMA]
  ] as const) {
    for (const letter of letters) table[letter.charCodeAt(0)] = kind
  }
  return table
})()

/**
 * True when the digits at [start, end) surely make a finite number, and an integer within ±(2^53 - 1) if they are one.
 * May say no too often, never yes.
 */
const isExact = (bytes: Uint8Array, start: number, end: number): boolean => {
  const digits = end - start
  const next = bytes[end]! | 0x20
  if (digits <= 15 && next !== 0x65) return true
  if (digits > 200) return false
  // An exponent of two digits cannot carry 200 digits past 1e308.
  if (next === 0x65) return !isDigit(bytes[end + (isDigit(bytes[end + 1]!) ? 3 : 4)]!)
  if (digits === 16 && bytes[start]! < 0x39) return true
  for (let i = start; i < end; i++) if (bytes[i] === 0x2e) return true
  return false
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Index of the closing quote; -1 when there is none, or when an escape is half of a surrogate pair. */
const stringEnd = (bytes: Uint8Array, at: number): number => {
  const length = bytes.length
  while (at < length) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at
    if (byte !== BACKSLASH) {
      at++
      continue
    }
    if (bytes[at + 1] === 0x75 && (bytes[at + 2]! | 0x20) === 0x64 && bytes[at + 3]! >= 0x38) {
      if (!isPair(bytes, at)) return -1
      at += 12
      continue
    }
    at += 2
  }
  return -1
}

/**
 * True when the two escapes at `at`, the first of them of a surrogate, are a high and a low one. JSON.parse checks
 * their other digits.
 */
const isPair = (bytes: Uint8Array, at: number): boolean => {
  const high = bytes[at + 3]! | 0x20
  const low = bytes[at + 9]! | 0x20
  return (
    (high === 0x38 || high === 0x39 || high === 0x61 || high === 0x62) &&
    bytes[at + 6] === BACKSLASH &&
    bytes[at + 7] === 0x75 &&
    (bytes[at + 8]! | 0x20) === 0x64 &&
    low >= 0x63 &&
    low <= 0x66
  )
}
