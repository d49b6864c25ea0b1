/** Reads a record where it lies, without making values of it. This is the loop a verifier spends its time in. */
import { fromUtf8, toHex } from "../bytes.ts"
import { FormScanner } from "../json/form.ts"
import type { JsonObject } from "../json/value.ts"
import { BodyScanner } from "./body-scanner.ts"
import { isHash, isHexOf } from "./hex-words.ts"
import { instantAt } from "./instant.ts"
import { judgeRecord } from "./judge.ts"
import { LETTER, nameByte, PartScanner, word } from "./part-scanner.ts"
import { readSeq } from "./read-seq.ts"
import { MAX_RECORD_BYTES, type PartCommitment, type RecordProblem } from "./record.ts"

// The fixed text between the members, cut into words; where a length is no multiple of four, two words overlap.
const AT_0 = word('{"at'),
  AT_3 = word('t":"')
const BODY_0 = word('","b'),
  BODY_4 = word('ody"'),
  COLON_BRACE = 0x7b3a
const KIND_0 = word(',"ki'),
  KIND_4 = word('nd":'),
  KIND_5 = word('d":"')
const PARTS_0 = word('","p'),
  PARTS_4 = word("arts"),
  PARTS_7 = word('s":[')
const PREV_0 = word('],"p'),
  PREV_4 = word('rev"'),
  PREV_6 = word('v":"')
const SEQ_0 = word('","s'),
  SEQ_4 = word('eq":')
const V_0 = word(',"v"'),
  V_3 = word('":1}')

const QUOTE = 0x22
const ZERO = 0x30

/** Bytes of the shortest text that can pass: every member as short as it gets, `at` an empty text. */
const SHORTEST = 131

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
  /** The parts, where they lie. */
  readonly partList = new PartScanner()
  /** Indexes of the first byte and behind the last one. */
  kindStart = 0
  kindEnd = 0
  bodyStart = 0
  bodyEnd = 0
  /** The 64 digits of `prev`. */
  prevStart = 0
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
  scan(
    bytes: Uint8Array,
    start = 0,
    end: number = bytes.length,
    prevHash: Uint8Array | null = null
  ): RecordProblem | null {
    if (end - start <= MAX_RECORD_BYTES && this.#read(bytes, start, end) === end) {
      this.prevMatches = prevHash !== null && isHexOf(this.view, this.prevStart, prevHash, 0)
      if (this.prevMatches || isHash(this.view, this.prevStart)) return null
    }
    return judgeRecord(bytes.subarray(start, end))
  }

  /**
   * Scans a record whose end is not known; answers the index behind it, at most `limit`, or -1 when there may be
   * something to say of it.
   *
   * `prev` is left to a caller who knows what it must be: nothing is said of the 64 bytes at `prevStart`.
   */
  scanOn(bytes: Uint8Array, start: number, limit: number): number {
    const end = this.#read(bytes, start, limit)
    return end - start <= MAX_RECORD_BYTES ? end : -1
  }

  /** The bytes scanned, to read words from any index. */
  get view(): DataView {
    return this.#form.view
  }

  /** The fast path: the index behind the record, or -1. It may not say what is wrong, and leaves that to the judge. */
  #read(bytes: Uint8Array, start: number, limit: number): number {
    if (limit - start < SHORTEST) return -1
    const form = this.#form
    form.attach(bytes)
    const view = form.view
    // Every read below is inside [start, limit): where a member ends is compared with what must follow it at least.
    if (view.getInt32(start, true) !== AT_0 || view.getInt32(start + 3, true) !== AT_3) return -1
    let at = this.#instant(view, bytes, start + 7)
    if (
      at < 0 ||
      at + 10 > limit ||
      view.getInt32(at, true) !== BODY_0 ||
      view.getInt32(at + 4, true) !== BODY_4 ||
      view.getUint16(at + 8, true) !== COLON_BRACE
    )
      return -1
    this.bodyStart = at + 9
    // What follows the body has at least 110 bytes.
    at = this.#body.body(at + 9, limit - 110)
    if (at < 0 || at + 110 > limit) return -1
    this.bodyEnd = at
    if (
      view.getInt32(at, true) !== KIND_0 ||
      view.getInt32(at + 4, true) !== KIND_4 ||
      view.getInt32(at + 5, true) !== KIND_5
    )
      return -1
    at = this.#kind(bytes, at + 9)
    if (at < 0 || at + 100 > limit) return -1
    if (
      view.getInt32(at, true) !== PARTS_0 ||
      view.getInt32(at + 4, true) !== PARTS_4 ||
      view.getInt32(at + 7, true) !== PARTS_7
    )
      return -1
    at = this.partList.scan(view, bytes, at + 11, limit)
    if (at < 0 || at + 84 > limit) return -1
    if (
      view.getInt32(at, true) !== PREV_0 ||
      view.getInt32(at + 4, true) !== PREV_4 ||
      view.getInt32(at + 6, true) !== PREV_6
    )
      return -1
    this.prevStart = at + 10
    at += 74
    if (at + 8 > limit || view.getInt32(at, true) !== SEQ_0 || view.getInt32(at + 4, true) !== SEQ_4) return -1
    at = readSeq(bytes, at + 8, this)
    return at >= 0 && at + 7 <= limit && view.getInt32(at, true) === V_0 && view.getInt32(at + 3, true) === V_3
      ? at + 7
      : -1
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
      const s1 = bytes[at + 17]! - ZERO,
        s0 = bytes[at + 18]! - ZERO
      const m2 = bytes[at + 20]! - ZERO,
        m1 = bytes[at + 21]! - ZERO,
        m0 = bytes[at + 22]! - ZERO
      // As unsigned numbers, so that one comparison sees both ends.
      // NaN: no minute seen yet.
      if (
        this.#minuteMs === this.#minuteMs &&
        bytes[at + 16] === 0x3a &&
        bytes[at + 19] === 0x2e &&
        bytes[at + 23] === 0x5a &&
        s1 >>> 0 < 6 &&
        s0 >>> 0 < 10 &&
        m2 >>> 0 < 10 &&
        m1 >>> 0 < 10 &&
        m0 >>> 0 < 10
      ) {
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

  /** Whether the kind is this one. */
  kindIs(kind: string): boolean {
    if (this.kindEnd - this.kindStart !== kind.length) return false
    const bytes = this.#form.bytes
    for (let i = 0; i < kind.length; i++) if (bytes[this.kindStart + i] !== kind.charCodeAt(i)) return false
    return true
  }

  get partCount(): number {
    return this.partList.count
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
    const { commitments, count, names } = this.partList
    return Array.from({ length: count }, (_, i) => ({
      c: toHex(commitments.subarray(32 * i, 32 * i + 32)),
      name: ascii(this.#form.bytes, names[2 * i]!, names[2 * i + 1]!)
    }))
  }

  /** The digits of `prev`. */
  prev(): string {
    return ascii(this.#form.bytes, this.prevStart, this.prevStart + 64)
  }
}

const ascii = (bytes: Uint8Array, start: number, end: number): string => oneByteText.decode(bytes.subarray(start, end))

const oneByteText = new TextDecoder("latin1")
