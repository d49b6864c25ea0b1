/**
 * Signals read from their bytes to points at once, without a value in between: where they are just what an envelope
 * asks of the caller, in their order and each in its domain.
 * Nearly all are, and for whoever evaluates millions of records again the values in between are a third of the work.
 */
import type { Decoder, Step } from "@flyball/envelope"

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const OPEN = 0x7b
const CLOSE = 0x7d

/** Digits of a number that is read here; each such number is exact. */
const MAX_DIGITS = 15
/** Places of an enum's members, by a hash of their bytes. A power of two. */
const PLACES = 256
/** Members of an enum that is read here. */
const MAX_MEMBERS = 64

/** One signal. `head` is what stands before its value: its name in quotes and a colon. */
interface Reader {
  readonly step: Step
  readonly head: Uint8Array
  /** Of an enum: members in quotes, and which of them a hash means; -1 where none. */
  readonly members: ReadonlyArray<Uint8Array>
  readonly byHash: Int16Array
}

/** Reads what a caller says under one combination. */
export class SignalPoints {
  readonly #readers: ReadonlyArray<Reader>
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor({ caller }: Decoder) {
    this.#readers = caller.inOrder.map((step) => readerOf(step))
  }

  /**
   * Writes the points of the caller's signals; false where that takes more than this: nothing is said then of whether
   * they are right.
   */
  read(bytes: Uint8Array, point: Float64Array): boolean {
    const readers = this.#readers
    this.#bytes = bytes
    this.#at = 1
    if (bytes[0] !== OPEN) return false
    let next = 0
    if (bytes[1] === CLOSE) this.#at = 2
    else
      for (;;) {
        while (next < readers.length && !this.#passes(readers[next]!.head))
          if (!leftOut(readers[next++]!.step, point)) return false
        if (next === readers.length || !this.#value(readers[next++]!, point)) return false
        const sign = bytes[this.#at++]
        if (sign === CLOSE) break
        if (sign !== COMMA) return false
      }
    for (; next < readers.length; next++) if (!leftOut(readers[next]!.step, point)) return false
    return this.#at === bytes.length
  }

  /** Whether these bytes stand here; steps over them if so. */
  #passes(text: Uint8Array): boolean {
    const bytes = this.#bytes
    const at = this.#at
    for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false
    this.#at = at + text.length
    return true
  }

  #value(reader: Reader, point: Float64Array): boolean {
    const { step } = reader
    if (step.type === "int") return this.#integer(step, point)
    if (step.type === "enum") return this.#member(reader, point)
    const isTrue = this.#passes(TRUE)
    if (!isTrue && !this.#passes(FALSE)) return false
    point[step.place] = isTrue ? 1 : 0
    return true
  }

  #integer({ max, min, place }: Step, point: Float64Array): boolean {
    const bytes = this.#bytes
    const isNegative = bytes[this.#at] === MINUS
    const start = isNegative ? this.#at + 1 : this.#at
    let at = start
    let value = 0
    for (; ; at++) {
      const digit = bytes[at]! - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      value = value * 10 + digit
    }
    const digits = at - start
    if (digits === 0 || digits > MAX_DIGITS || (bytes[start] === ZERO && (digits > 1 || isNegative))) return false
    if (isNegative) value = -value
    if (!(value >= min && value <= max)) return false
    point[place] = value
    this.#at = at
    return true
  }

  #member({ byHash, members, step }: Reader, point: Float64Array): boolean {
    const bytes = this.#bytes
    const start = this.#at
    if (bytes[start] !== QUOTE) return false
    let hash = 0
    let at = start + 1
    for (; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined) return false
      hash = Math.imul(hash ^ byte, FACTOR)
    }
    const found = byHash[slot(hash)]!
    if (found < 0 || members[found]!.length !== at + 1 - start || !this.#passes(members[found]!)) return false
    point[step.place] = found
    return true
  }
}

const FACTOR = 0x01000193
const slot = (hash: number): number => (hash ^ (hash >>> 15)) & (PLACES - 1)

const latin = (text: string): Uint8Array => Uint8Array.from(text, (sign) => sign.charCodeAt(0))
const TRUE = latin("true")
const FALSE = latin("false")
/** Texts that JSON writes as they are, in as many bytes. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

const readerOf = (step: Step): Reader => {
  const byHash = new Int16Array(PLACES).fill(-1)
  const names = [...(step.indices?.keys() ?? [])]
  const members = names.map((name) => latin(`"${name}"`))
  names.slice(0, MAX_MEMBERS).forEach((name, index) => {
    if (!plain.test(name)) return
    let hash = 0
    for (const byte of latin(name)) hash = Math.imul(hash ^ byte, FACTOR)
    if (byHash[slot(hash)] === -1) byHash[slot(hash)] = index
  })
  return { step, head: latin(`"${step.name}":`), members, byHash }
}

/** The point of a signal that was not sent; false where it had to be. */
const leftOut = ({ absent, place }: Step, point: Float64Array): boolean => {
  if (absent === null) return false
  point[place] = absent
  return true
}
