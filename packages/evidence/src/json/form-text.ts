/** The rare cases of strings in form: escapes and text outside ASCII. */
import { fromUtf8 } from "../bytes.ts"
import type { FormScanner } from "./form.ts"

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Goes on with a string from where the fast loop stopped; returns the index of its closing quote, or -1 with the
 * problem noted.
 */
export const stringTail = (form: FormScanner, at: number): number => {
  const bytes = form.bytes
  while (at < bytes.length) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at
    if (byte < 0x20) return form.fail("syntax", at)
    if (byte === BACKSLASH) {
      const length = escapeLength(bytes, at)
      if (length === 0) return form.fail("escape", at)
      at += length
    } else if (byte < 0x80) at++
    else {
      const length = sequenceLength(bytes, at)
      if (length === 0) return form.fail("utf8", at)
      at += length
    }
  }
  return form.fail("syntax", at)
}

/**
 * Length of the escape at `at` if RFC 8785 writes it so, else 0: the two-letter ones, and `\u00xx` for the other
 * control characters.
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
export const compareNames = (bytes: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): number => {
  const left = nameAt(bytes, a, aEnd)
  const right = nameAt(bytes, b, bEnd)
  return left < right ? -1 : left === right ? 0 : 1
}

const nameAt = (bytes: Uint8Array, start: number, end: number): string =>
  JSON.parse(`"${fromUtf8(bytes.subarray(start, end))}"`) as string
