/** Reads a record where it lies, without making values of it. This is the loop a verifier spends its time in. */
import { fromUtf8, hexValue } from "../bytes.ts"
import { FormScanner } from "../json/form.ts"
import type { JsonObject } from "../json/value.ts"
import { BodyScanner } from "./body-scanner.ts"
import { instantAt } from "./instant.ts"
import { judgeRecord } from "./judge.ts"
import { MAX_RECORD_BYTES, type PartCommitment, type RecordProblem } from "./record.ts"

/** The four ASCII bytes of a text as the number that a little-endian read gives. */
const word = (text: string): number =>
  text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)

// The fixed text between the members, cut into words; where a length is no multiple of four, two words overlap.
const AT_0 = word('{"at'), AT_3 = word('t":"')
const BODY_0 = word('","b'), BODY_4 = word('ody"'), COLON_BRACE = 0x7b3a
const KIND_0 = word(',"ki'), KIND_4 = word('nd":'), KIND_5 = word('d":"')
const PARTS_0 = word('","p'), PARTS_4 = word('arts'), PARTS_7 = word('s":[')
const C_0 = word('{"c"'), C_2 = word('c":"')
const NAME_0 = word('","n'), NAME_4 = word('ame"'), NAME_6 = word('e":"')
const PREV_0 = word('],"p'), PREV_4 = word('rev"'), PREV_6 = word('v":"')
const SEQ_0 = word('","s'), SEQ_4 = word('eq":')
const V_0 = word(',"v"'), V_3 = word('":1}')

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const CLOSE_LIST = 0x5d
const CLOSE_OBJECT = 0x7d

/** Bytes of the shortest text that can pass: every member as short as it gets, `at` an empty text. */
const SHORTEST = 131

/** Value of two hex digits by their little-endian 16-bit number; above 255 for anything else. Only a few lines of it are ever touched. */
const hexPair = /* @__PURE__ */ (() => {
  const table = new Uint16Array(65_536).fill(0x100)
  for (let high = 0; high < 256; high++) {
    for (let low = 0; low < 256; low++) {
      if (hexValue[high]! < 16 && hexValue[low]! < 16) table[(low << 8) | high] = (hexValue[high]! << 4) | hexValue[low]!
    }
  }
  return table
})()

/** The two hex digits of a byte as a little-endian 16-bit number. */
const hexDigits = /* @__PURE__ */ Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = "0123456789abcdef"
  return digits.charCodeAt(byte >> 4) | (digits.charCodeAt(byte & 15) << 8)
})

const LETTER = 1
const DIGIT_OR_UNDERSCORE = 2
const DOT = 4
const nameByte = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256)
  for (let letter = 0x61; letter <= 0x7a; letter++) table[letter] = LETTER
  for (let digit = ZERO; digit <= NINE; digit++) table[digit] = DIGIT_OR_UNDERSCORE
  table[0x5f] = DIGIT_OR_UNDERSCORE
  table[0x2e] = DOT
  return table
})()

/**
 * A reusable reader of records. After `scan` has answered null, the fields describe that record until the next scan.
 *
 * It checks everything that format 1 section 1 says of one record's bytes, and answers why when something is wrong.
 * The chain rules (`seq`, `prev`, `at` against the record before) are the caller's.
 */
export class RecordScanner {
  seq = 0
  /** NaN when `at` is a text but no real instant: an E_TIME for the caller, whose other fields hold all the same. */
  atMs = 0
  /** Whether `prev` says the hash that was given to `scan`; false without one. */
  prevMatches = false
  partCount = 0
  /** Indexes of the first byte and behind the last one. */
  kindStart = 0
  kindEnd = 0
  bodyStart = 0
  bodyEnd = 0
  /** The 64 digits of `prev`. */
  prevStart = 0
  #partsStart = 0
  readonly #form = new FormScanner()
  readonly #body = new BodyScanner(this.#form)
  // The last minute seen, as words and as milliseconds: neighbours mostly share it.
  #minute0 = 0
  #minute4 = 0
  #minute8 = 0
  #minute12 = 0
  #minuteMs = Number.NaN

  /**
   * Scans the record at [start, end); answers null, or what is wrong with it.
   *
   * `prevHash`: the hash of the record before, to compare `prev` with in the same pass.
   */
  scan(bytes: Uint8Array, start = 0, end: number = bytes.length, prevHash: Uint8Array | null = null): RecordProblem | null {
    if (end - start <= MAX_RECORD_BYTES && end - start >= SHORTEST && this.#read(bytes, start, end, prevHash)) return null
    return judgeRecord(bytes.subarray(start, end))
  }

  /** The fast path: true when all is in order. It may not say what is wrong, and leaves that to the judge. */
  #read(bytes: Uint8Array, start: number, end: number, prevHash: Uint8Array | null): boolean {
    const form = this.#form
    form.attach(bytes)
    const view = form.view
    // The fixed ends of a record keep every read below inside [start, end + 3].
    if (view.getInt32(start, true) !== AT_0 || view.getInt32(start + 3, true) !== AT_3) return false
    if (view.getInt32(end - 4, true) !== V_3) return false
    let at = this.#instant(view, bytes, start + 7)
    if (at < 0 || at + 10 > end || view.getInt32(at, true) !== BODY_0 || view.getInt32(at + 4, true) !== BODY_4 || view.getUint16(at + 8, true) !== COLON_BRACE) return false
    this.bodyStart = at + 9
    // What follows the body has at least 110 bytes.
    at = this.#body.body(at + 9, end - 110)
    if (at < 0 || at + 110 > end) return false
    this.bodyEnd = at
    if (view.getInt32(at, true) !== KIND_0 || view.getInt32(at + 4, true) !== KIND_4 || view.getInt32(at + 5, true) !== KIND_5) return false
    at = this.#kind(bytes, at + 9)
    if (at < 0 || at + 100 > end) return false
    if (view.getInt32(at, true) !== PARTS_0 || view.getInt32(at + 4, true) !== PARTS_4 || view.getInt32(at + 7, true) !== PARTS_7) return false
    at = this.#parts(view, bytes, at + 11, end)
    if (at < 0 || at + 84 > end) return false
    if (view.getInt32(at, true) !== PREV_0 || view.getInt32(at + 4, true) !== PREV_4 || view.getInt32(at + 6, true) !== PREV_6) return false
    this.prevStart = at + 10
    this.prevMatches = prevHash !== null && isHexOf(view, at + 10, prevHash)
    if (!this.prevMatches && !isHash(view, at + 10)) return false
    at += 74
    if (view.getInt32(at, true) !== SEQ_0 || view.getInt32(at + 4, true) !== SEQ_4) return false
    at = this.#seq(bytes, at + 8)
    return at >= 0 && at + 7 === end && view.getInt32(at, true) === V_0
  }

  /** Reads `at`; returns the index of its closing quote. */
  #instant(view: DataView, bytes: Uint8Array, at: number): number {
    if (bytes[at + 24] !== QUOTE) {
      // Another text than an instant's: well-formed or not is all there is to say.
      this.atMs = Number.NaN
      return this.#form.string(at)
    }
    const word0 = view.getInt32(at, true)
    const word4 = view.getInt32(at + 4, true)
    const word8 = view.getInt32(at + 8, true)
    const word12 = view.getInt32(at + 12, true)
    if (word0 === this.#minute0 && word4 === this.#minute4 && word8 === this.#minute8 && word12 === this.#minute12) {
      const s1 = bytes[at + 17]! - ZERO, s0 = bytes[at + 18]! - ZERO
      const m2 = bytes[at + 20]! - ZERO, m1 = bytes[at + 21]! - ZERO, m0 = bytes[at + 22]! - ZERO
      // As unsigned numbers, so that one comparison sees both ends.
      // NaN: no minute seen yet.
      if (this.#minuteMs === this.#minuteMs && bytes[at + 16] === 0x3a && bytes[at + 19] === 0x2e && bytes[at + 23] === 0x5a && s1 >>> 0 < 6 && s0 >>> 0 < 10 && m2 >>> 0 < 10 && m1 >>> 0 < 10 && m0 >>> 0 < 10) {
        this.atMs = this.#minuteMs + (s1 * 10 + s0) * 1000 + m2 * 100 + m1 * 10 + m0
        return at + 24
      }
    }
    const ms = instantAt(bytes, at)
    this.atMs = ms
    if (Number.isNaN(ms)) return this.#form.string(at)
    this.#minuteMs = Math.floor(ms / 60_000) * 60_000
    this.#minute0 = word0
    this.#minute4 = word4
    this.#minute8 = word8
    this.#minute12 = word12
    return at + 24
  }

  /** Reads `kind`; returns the index of its closing quote. */
  #kind(bytes: Uint8Array, start: number): number {
    let at = start
    if (nameByte[bytes[at]!] !== LETTER) return -1
    while (nameByte[bytes[at]!]! > 0) at++
    this.kindStart = start
    this.kindEnd = at
    return at - start >= 3 && at - start <= 64 ? at : -1
  }

  /** Reads the items of `parts`; returns the index of the closing bracket. */
  #parts(view: DataView, bytes: Uint8Array, at: number, end: number): number {
    this.#partsStart = at
    this.partCount = 0
    if (bytes[at] === CLOSE_LIST) return at
    let before = 0
    let beforeEnd = 0
    for (;;) {
      // A part and what must follow it.
      if (at + 166 > end) return -1
      if (view.getInt32(at, true) !== C_0 || view.getInt32(at + 2, true) !== C_2 || !isHash(view, at + 6)) return -1
      if (view.getInt32(at + 70, true) !== NAME_0 || view.getInt32(at + 74, true) !== NAME_4 || view.getInt32(at + 76, true) !== NAME_6) return -1
      const name = at + 80
      if (nameByte[bytes[name]!] !== LETTER) return -1
      at = name + 1
      while ((nameByte[bytes[at]!]! & (LETTER | DIGIT_OR_UNDERSCORE)) !== 0) at++
      if (at - name > 32 || bytes[at] !== QUOTE || bytes[at + 1] !== CLOSE_OBJECT) return -1
      if (this.partCount > 0 && !ascends(bytes, before, beforeEnd, name, at)) return -1
      this.partCount++
      before = name
      beforeEnd = at
      const next = bytes[at + 2]
      if (next === CLOSE_LIST) return at + 2
      if (next !== COMMA) return -1
      at += 3
    }
  }

  /** Reads `seq`; returns the index behind it. */
  #seq(bytes: Uint8Array, start: number): number {
    let at = start
    let value = 0
    for (let digit = bytes[at]! - ZERO; digit >>> 0 < 10; digit = bytes[++at]! - ZERO) value = value * 10 + digit
    const digits = at - start
    if (digits === 0 || digits > 16 || value > Number.MAX_SAFE_INTEGER || (digits > 1 && bytes[start] === ZERO)) return -1
    this.seq = value
    return at
  }

  /** Whether the kind is this one. */
  kindIs(kind: string): boolean {
    if (this.kindEnd - this.kindStart !== kind.length) return false
    const bytes = this.#form.bytes
    for (let i = 0; i < kind.length; i++) if (bytes[this.kindStart + i] !== kind.charCodeAt(i)) return false
    return true
  }

  /** The kind as a text. */
  kind(): string {
    return ascii(this.#form.bytes, this.kindStart, this.kindEnd)
  }

  /** The body as a value; its names are ordinary, `__proto__` too. */
  body(): JsonObject {
    return JSON.parse(fromUtf8(this.#form.bytes.subarray(this.bodyStart, this.bodyEnd))!) as JsonObject
  }

  /** The parts' names and commitments. */
  parts(): ReadonlyArray<PartCommitment> {
    const bytes = this.#form.bytes
    const parts: Array<PartCommitment> = []
    let at = this.#partsStart
    for (let i = 0; i < this.partCount; i++) {
      let nameEnd = at + 81
      while (bytes[nameEnd] !== QUOTE) nameEnd++
      parts.push({ c: ascii(bytes, at + 6, at + 70), name: ascii(bytes, at + 80, nameEnd) })
      at = nameEnd + 3
    }
    return parts
  }

  /** The digits of `prev`. */
  prev(): string {
    return ascii(this.#form.bytes, this.prevStart, this.prevStart + 64)
  }
}

const ascii = (bytes: Uint8Array, start: number, end: number): string => String.fromCharCode(...bytes.subarray(start, end))

/** Whether 64 bytes are lower-case hex digits. */
const isHash = (view: DataView, at: number): boolean => {
  let seen = 0
  for (let i = 0; i < 64; i += 2) seen |= hexPair[view.getUint16(at + i, true)]!
  return seen < 0x100
}

/** Whether 64 bytes are the lower-case hex of a hash. */
const isHexOf = (view: DataView, at: number, hash: Uint8Array): boolean => {
  let difference = 0
  for (let i = 0; i < 32; i += 2) difference |= view.getInt32(at + 2 * i, true) ^ (hexDigits[hash[i]!]! | (hexDigits[hash[i + 1]!]! << 16))
  return difference === 0
}

const ascends = (bytes: Uint8Array, before: number, beforeEnd: number, name: number, nameEnd: number): boolean => {
  let i = before
  let j = name
  while (i < beforeEnd && j < nameEnd && bytes[i] === bytes[j]) {
    i++
    j++
  }
  return j < nameEnd && (i === beforeEnd || bytes[i]! < bytes[j]!)
}
