/**
 * Disclosed parts, checked many lines at a time.
 *
 * A D line says which part it is about, and holds all that the commitment is made of. So lines can be read and hashed
 * where they lie and by
 * anybody; what the record says is compared afterwards, in order, by `PartChecks`. This is the fast path only: it stops
 * in front of the first line
 * that is not of the one form, and leaves that to the reader of single lines, who says what is wrong.
 */
import type { Crypto } from "../crypto.ts"
import { DisclosedLine } from "./disclosed-line.ts"

/** Some D lines in the order in which they stand, which need not be the right one. */
export interface PartRun {
  readonly count: number
  /** Bytes of the lines. */
  readonly length: number
  /**
   * What each line says: the seq of a record, which of `names` the part has, and 32 bytes each, the commitment to what
   * the line discloses.
   */
  readonly seqs: Float64Array<ArrayBuffer>
  readonly nameNumbers: Uint16Array<ArrayBuffer>
  readonly names: ReadonlyArray<string>
  readonly commitments: Uint8Array<ArrayBuffer>
}

/** Lines of one run at most. It bounds what a checker keeps; a chunk with more has very small parts. */
const MAX_PART_RUN = 2048
/** Bytes that the arrays of a run take at most. */
export const PART_ROOM_BYTES = (8 + 2 + 32) * MAX_PART_RUN

/** Where a checker writes a run. */
export interface PartRoom {
  readonly seqs: Float64Array<ArrayBuffer>
  readonly nameNumbers: Uint16Array<ArrayBuffer>
  readonly commitments: Uint8Array<ArrayBuffer>
}

/** Room in a buffer, which has `PART_ROOM_BYTES` from `at` on; `at` is a multiple of eight. */
export const partRoom = (buffer: ArrayBuffer = new ArrayBuffer(PART_ROOM_BYTES), at = 0): PartRoom => ({
  seqs: new Float64Array(buffer, at, MAX_PART_RUN),
  nameNumbers: new Uint16Array(buffer, at + 8 * MAX_PART_RUN, MAX_PART_RUN),
  commitments: new Uint8Array(buffer, at + 10 * MAX_PART_RUN, 32 * MAX_PART_RUN)
})

/** Makes runs, one after another. */
export class PartRunChecker {
  readonly #line: DisclosedLine
  readonly #room = partRoom()
  #names: Array<string> = []
  readonly #numberOfName = new Map<string, number>()
  /** Numbers by the sum of a name's bytes: mostly it is this one. */
  readonly #guesses = new Uint16Array(GUESSES)

  constructor(crypto: Pick<Crypto, "sha256Into">) {
    this.#line = new DisclosedLine(crypto)
  }

  /**
   * The run of D lines that begins at `start`, as far as there are whole lines before `end`; null when there is none.
   * Valid until `room` is used again.
   */
  check(bytes: Uint8Array, start: number, end: number, room: PartRoom = this.#room): PartRun | null {
    const { commitments, nameNumbers, seqs } = room
    const line = this.#line
    this.#names = []
    this.#numberOfName.clear()
    line.attach(bytes)
    let at = start
    let count = 0
    // What is at hand of a last line that is not whole would be read for nothing, but only once a chunk.
    while (count < MAX_PART_RUN && at + 2 < end && bytes[at] === LETTER_D && bytes[at + 1] === SPACE) {
      const newline = line.read(at + 2, end)
      if (newline < 0 || newline >= end || bytes[newline] !== NEWLINE) break
      seqs[count] = line.seq
      nameNumbers[count] = this.#numberOf(bytes, line.nameStart, line.nameEnd)
      line.commit(commitments, 32 * count)
      at = newline + 1
      count++
    }
    line.forget()
    if (count === 0) return null
    return {
      count,
      length: at - start,
      seqs: seqs.subarray(0, count),
      nameNumbers: nameNumbers.subarray(0, count),
      names: this.#names,
      commitments: commitments.subarray(0, 32 * count)
    }
  }

  /** The one D line whose payload is [start, end), as a run; null when it is not of the one form. */
  checkLine(bytes: Uint8Array, start: number, end: number): PartRun | null {
    const line = this.#line
    line.attach(bytes)
    const whole = line.read(start, end) === end
    const commitment = new Uint8Array(32)
    if (whole) line.commit(commitment, 0)
    line.forget()
    return whole ? partRunOf(line.seq, nameText(bytes, line.nameStart, line.nameEnd), commitment) : null
  }

  #numberOf(bytes: Uint8Array, start: number, end: number): number {
    let sum = end - start
    for (let i = start; i < end; i++) sum += bytes[i]!
    const place = sum % GUESSES
    const guess = this.#guesses[place]!
    if (isName(this.#names[guess], bytes, start, end)) return guess
    const name = nameText(bytes, start, end)
    let number = this.#numberOfName.get(name)
    if (number === undefined) {
      number = this.#names.length
      this.#names.push(name)
      this.#numberOfName.set(name, number)
    }
    this.#guesses[place] = number
    return number
  }
}

/** A run of one line. */
export const partRunOf = (seq: number, name: string, commitment: Uint8Array<ArrayBuffer>): PartRun => ({
  count: 1,
  length: 0,
  seqs: Float64Array.of(seq),
  nameNumbers: Uint16Array.of(0),
  names: [name],
  commitments: commitment
})

const nameText = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end))

const isName = (name: string | undefined, bytes: Uint8Array, start: number, end: number): boolean => {
  if (name === undefined || name.length !== end - start) return false
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

const GUESSES = 64
const LETTER_D = 0x44
const SPACE = 0x20
const NEWLINE = 0x0a
