/** Reads a record in place, without making values of it. The one reader of record bytes. Spec: format 1 section 1. */
import { equalBytes, fromUtf8, hexValue, toHex } from "../bytes.ts"
import { FormScanner, MAX_RECORD_DEPTH } from "../json/form.ts"
import type { JsonObject } from "../json/value.ts"
import { instantAt } from "./instant.ts"
import { judgeRecord } from "./judge.ts"
import { MAX_RECORD_BYTES, type PartCommitment, type RecordProblem } from "./record.ts"

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

// The fixed text between the members, in the order in which a record has them.
const AT = ascii('{"at":"')
const BODY = ascii('","body":')
const KIND = ascii(',"kind":"')
const PARTS = ascii('","parts":[')
const PREV = ascii('],"prev":"')
const SEQ = ascii('","seq":')
const V = ascii(',"v":1}')
// The same of a part.
const COMMITMENT = ascii('{"c":"')
const NAME = ascii('","name":"')
const END_OF_PART = ascii('"}')

const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const ZERO = 0x30

/** `{"c":"<64 digits>","name":"a"},` is the shortest part of a list. */
const MAX_PARTS = Math.ceil(MAX_RECORD_BYTES / 85)

const LETTER = 1
const DIGIT_OR_UNDERSCORE = 2
const DOT = 4
/** Role of each byte in the name of a kind or a part. 0: not allowed there. */
const nameByte = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256)
  for (const letter of ascii("abcdefghijklmnopqrstuvwxyz")) table[letter] = LETTER
  for (const byte of ascii("0123456789_")) table[byte] = DIGIT_OR_UNDERSCORE
  for (const byte of ascii(".")) table[byte] = DOT
  return table
})()

/**
 * A reusable reader of records. After `scan` has returned null, the fields describe that record until the next scan.
 *
 * It checks everything that format 1 section 1 requires of the bytes of one record. The chain rules (`seq`, `prev` and
 * `at` against the record before) are the caller's. Spec: format 1 section 1.
 */
export class RecordScanner {
  seq = 0
  /** NaN when `at` is a text but no real instant. That is an E_TIME for the caller. The other fields are valid. */
  atMs = 0
  /** `prev` is the hash that was given to `scan`. False without one. */
  prevMatches = false
  partCount = 0
  /** Indexes of the first byte of each part name and behind its last one, in pairs. */
  readonly partNames = new Int32Array(2 * MAX_PARTS)
  /** Indexes of the first byte and behind the last one. */
  kindStart = 0
  kindEnd = 0
  bodyStart = 0
  bodyEnd = 0
  readonly #commitments = new Uint8Array(32 * MAX_PARTS)
  readonly #prev = new Uint8Array(32)
  readonly #form = new FormScanner()
  #bytes: Uint8Array = this.#form.bytes

  /**
   * Scans the record at [start, end). Returns null, or what is wrong with it.
   *
   * `prevHash`: the hash of the record before, to compare `prev` with.
   */
  scan(
    bytes: Uint8Array,
    start = 0,
    end: number = bytes.length,
    prevHash: Uint8Array | null = null
  ): RecordProblem | null {
    this.#bytes = bytes
    this.#form.attach(bytes)
    const isRecord = end - start <= MAX_RECORD_BYTES && this.#record(start) === end
    if (!isRecord) return judgeRecord(bytes.subarray(start, end))
    this.prevMatches = prevHash !== null && equalBytes(this.#prev, prevHash)
    return null
  }

  /** The kind is this one. */
  kindIs(kind: string): boolean {
    if (this.kindEnd - this.kindStart !== kind.length) return false
    for (let i = 0; i < kind.length; i++) if (this.#bytes[this.kindStart + i] !== kind.charCodeAt(i)) return false
    return true
  }

  /** The kind as a text. */
  kind(): string {
    return this.#text(this.kindStart, this.kindEnd)
  }

  /** The body as a value. `__proto__` is an ordinary name in it. */
  body(): JsonObject {
    return JSON.parse(fromUtf8(this.#bytes.subarray(this.bodyStart, this.bodyEnd))!) as JsonObject
  }

  /** The name of the part with this number. */
  partName(index: number): string {
    return this.#text(this.partNames[2 * index]!, this.partNames[2 * index + 1]!)
  }

  /** The 32 bytes of a part's commitment. Valid until the next scan. */
  partCommitment(index: number): Uint8Array {
    return this.#commitments.subarray(32 * index, 32 * index + 32)
  }

  /** The names and commitments of all parts. */
  parts(): ReadonlyArray<PartCommitment> {
    return Array.from({ length: this.partCount }, (_, i) => ({
      c: toHex(this.partCommitment(i)),
      name: this.partName(i)
    }))
  }

  /** The hex digits of `prev`. */
  prev(): string {
    return toHex(this.#prev)
  }

  /*
   * The readers below take an index and return the index behind what they read, or -1. They may read past the end of
   * the
   * record: `scan` compares where they stopped. Behind the array every byte is undefined and matches nothing.
   */

  #record(start: number): number {
    let at = this.#literal(AT, start)
    if (at >= 0) at = this.#instant(at)
    at = this.#literal(BODY, at)
    if (at < 0 || this.#bytes[at] !== OPEN_OBJECT) return -1
    this.bodyStart = at
    this.bodyEnd = this.#form.object(at, MAX_RECORD_DEPTH - 1)
    at = this.#kind(this.#literal(KIND, this.bodyEnd))
    at = this.#parts(this.#literal(PARTS, at))
    at = this.#hash(this.#literal(PREV, at), this.#prev, 0)
    at = this.#seq(this.#literal(SEQ, at))
    return this.#literal(V, at)
  }

  #literal(text: Uint8Array, at: number): number {
    if (at < 0) return -1
    for (let i = 0; i < text.length; i++) if (this.#bytes[at + i] !== text[i]) return -1
    return at + text.length
  }

  /** Any text that RFC 8785 writes. Only its form matters here. */
  #instant(at: number): number {
    this.atMs = this.#bytes[at + 24] === QUOTE ? instantAt(this.#bytes, at) : Number.NaN
    return Number.isNaN(this.atMs) ? this.#form.string(at) : at + 24
  }

  /** `[a-z][a-z0-9_.]{2,63}` */
  #kind(start: number): number {
    if (start < 0) return -1
    const end = this.#name(start, LETTER | DIGIT_OR_UNDERSCORE | DOT)
    this.kindStart = start
    this.kindEnd = end
    return end - start >= 3 && end - start <= 64 ? end : -1
  }

  /** A letter, then bytes of the allowed classes. */
  #name(start: number, allowed: number): number {
    const bytes = this.#bytes
    if (nameByte[bytes[start]!] !== LETTER) return -1
    let at = start + 1
    while ((nameByte[bytes[at]!]! & allowed) !== 0) at++
    return at
  }

  /** The parts, sorted by name, each name once. Returns the index of the closing bracket. */
  #parts(at: number): number {
    this.partCount = 0
    if (at < 0 || this.#bytes[at] === CLOSE_LIST) return at
    while (this.partCount < MAX_PARTS) {
      at = this.#part(at)
      if (at < 0) return -1
      this.partCount++
      const next = this.#bytes[at]
      if (next === CLOSE_LIST) return at
      if (next !== COMMA) return -1
      at++
    }
    return -1
  }

  #part(at: number): number {
    const number = this.partCount
    const names = this.partNames
    const start = this.#literal(NAME, this.#hash(this.#literal(COMMITMENT, at), this.#commitments, 32 * number))
    if (start < 0) return -1
    const end = this.#name(start, LETTER | DIGIT_OR_UNDERSCORE)
    if (end - start > 32) return -1
    names[2 * number] = start
    names[2 * number + 1] = end
    if (number > 0 && !ascends(this.#bytes, names[2 * number - 2]!, names[2 * number - 1]!, start, end)) return -1
    return this.#literal(END_OF_PART, end)
  }

  /** 64 lower-case hex digits, decoded to `out`. */
  #hash(at: number, out: Uint8Array, to: number): number {
    if (at < 0) return -1
    const bytes = this.#bytes
    let seen = 0
    for (let i = 0; i < 32; i++) {
      const high = hexValue[bytes[at + 2 * i]!]!
      const low = hexValue[bytes[at + 2 * i + 1]!]!
      seen |= high | low
      out[to + i] = (high << 4) | low
    }
    return seen > 15 ? -1 : at + 64
  }

  /** Decimal digits without a leading zero, up to 2^53 - 1. */
  #seq(start: number): number {
    if (start < 0) return -1
    const end = this.#form.integer(start)
    if (end < 0 || this.#bytes[start]! < ZERO) return -1
    let seq = 0
    for (let at = start; at < end; at++) seq = seq * 10 + (this.#bytes[at]! - ZERO)
    this.seq = seq
    return end
  }

  #text(start: number, end: number): string {
    return oneByteText.decode(this.#bytes.subarray(start, end))
  }
}

/** The name at [name, nameEnd) comes after the one at [before, beforeEnd). */
const ascends = (bytes: Uint8Array, before: number, beforeEnd: number, name: number, nameEnd: number): boolean => {
  let i = before
  let j = name
  while (i < beforeEnd && j < nameEnd && bytes[i] === bytes[j]) {
    i++
    j++
  }
  return j < nameEnd && (i === beforeEnd || bytes[i]! < bytes[j]!)
}

const oneByteText = new TextDecoder("latin1")
