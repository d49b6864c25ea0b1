/**
 * Signals that are plain, read from their bytes at once: a flat object of ASCII texts, truth values and whole numbers,
 * its names in order. Nearly all are, and the way
 * through a text, its value and the text of that again takes three times as long.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/** Digits of a number that is read here; each such number is exact. */
const MAX_DIGITS = 15
/** Texts that are remembered, by a hash of their bytes. A power of two. */
const TEXTS = 2_048
/** Bytes of a text that is remembered. */
const MAX_KEPT_BYTES = 64

/** Reads plain signals. Remembers texts: names and values come again and again. */
export class PlainSignals {
  readonly #texts: Array<string> = new Array<string>(TEXTS).fill("")
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  /** The value of these bytes, which are its exact form; null for all that is not plain, well-formed or not. */
  read(bytes: Uint8Array): { readonly [name: string]: string | number | boolean } | null {
    this.#bytes = bytes
    this.#at = 1
    if (bytes[0] !== OPEN) return null
    const values: { [name: string]: string | number | boolean } = {}
    if (bytes[1] === CLOSE) return bytes.length === 2 ? values : null
    for (let before: string | null = null; ;) {
      const name = this.#text()
      // A name that an object has of itself would be lost.
      if (name === null || name === "__proto__" || (before !== null && before >= name) || bytes[this.#at++] !== COLON)
        return null
      before = name
      const value = this.#value()
      if (value === null) return null
      values[name] = value
      const next = bytes[this.#at++]
      if (next === CLOSE) return this.#at === bytes.length ? values : null
      if (next !== COMMA) return null
    }
  }

  #value(): string | number | boolean | null {
    const first = this.#bytes[this.#at]
    if (first === QUOTE) return this.#text()
    if (first === 0x74) return this.#word("true") ? true : null
    if (first === 0x66) return this.#word("false") ? false : null
    return this.#integer()
  }

  #word(word: string): boolean {
    for (let i = 0; i < word.length; i++) if (this.#bytes[this.#at++] !== word.charCodeAt(i)) return false
    return true
  }

  #integer(): number | null {
    const bytes = this.#bytes
    const isNegative = bytes[this.#at] === MINUS
    if (isNegative) this.#at++
    const start = this.#at
    let value = 0
    for (;;) {
      const digit = bytes[this.#at]! - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      value = value * 10 + digit
      this.#at++
    }
    const digits = this.#at - start
    if (digits === 0 || digits > MAX_DIGITS || (bytes[start] === ZERO && (digits > 1 || isNegative))) return null
    return isNegative ? -value : value
  }

  /** A text in quotes, without escapes. */
  #text(): string | null {
    const bytes = this.#bytes
    if (bytes[this.#at] !== QUOTE) return null
    const start = this.#at + 1
    let hash = 0
    let end = start
    for (; ; end++) {
      const byte = bytes[end]
      if (byte === QUOTE) break
      if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return null
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    this.#at = end + 1
    if (end - start > MAX_KEPT_BYTES) return textOf(bytes, start, end)
    const place = (hash ^ (hash >>> 15)) & (TEXTS - 1)
    const known = this.#texts[place]!
    if (isText(known, bytes, start, end)) return known
    const text = textOf(bytes, start, end)
    this.#texts[place] = text
    return text
  }
}

const isText = (text: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (text.length !== end - start) return false
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

const textOf = (bytes: Uint8Array, start: number, end: number): string => latin1.decode(bytes.subarray(start, end))
const latin1 = new TextDecoder("latin1")
