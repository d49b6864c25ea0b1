/** Reads the `parts` of a record where they lie. */
import { readHash } from "./hex-words.ts"
import { MAX_RECORD_BYTES } from "./record.ts"

/** The four ASCII bytes of a text as the number that a little-endian read gives. */
export const word = (text: string): number =>
  text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)

const C_0 = word('{"c"'),
  C_2 = word('c":"')
const NAME_0 = word('","n'),
  NAME_4 = word('ame"'),
  NAME_6 = word('e":"')

const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE_LIST = 0x5d
const CLOSE_OBJECT = 0x7d

export const LETTER = 1
export const DIGIT_OR_UNDERSCORE = 2
const DOT = 4
/** What a byte is in the name of a kind or a part; 0: nothing of these. */
export const nameByte = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256)
  for (let letter = 0x61; letter <= 0x7a; letter++) table[letter] = LETTER
  for (let digit = 0x30; digit <= 0x39; digit++) table[digit] = DIGIT_OR_UNDERSCORE
  table[0x5f] = DIGIT_OR_UNDERSCORE
  table[0x2e] = DOT
  return table
})()

/** `{"c":"<64 digits>","name":"a"},` is the shortest part of a list. */
const MAX_PARTS = Math.ceil(MAX_RECORD_BYTES / 85)

/** The parts of the record scanned last. */
export class PartScanner {
  count = 0
  /** Indexes of each name's first byte and behind its last one, in pairs. */
  readonly names = new Int32Array(2 * MAX_PARTS)
  /** The 32 bytes of each commitment. */
  readonly commitments = new Uint8Array(32 * MAX_PARTS)

  /**
   * Reads the items of `parts`, of which the first would begin at `at`; returns the index of the closing bracket, or
   * -1.
   */
  scan(view: DataView, bytes: Uint8Array, at: number, end: number): number {
    this.count = 0
    if (bytes[at] === CLOSE_LIST) return at
    const { commitments, names } = this
    for (let count = 0; count < MAX_PARTS; count++) {
      // A part and what must follow it.
      if (at + 166 > end) return -1
      if (
        view.getInt32(at, true) !== C_0 ||
        view.getInt32(at + 2, true) !== C_2 ||
        !readHash(view, at + 6, commitments, 32 * count)
      )
        return -1
      if (
        view.getInt32(at + 70, true) !== NAME_0 ||
        view.getInt32(at + 74, true) !== NAME_4 ||
        view.getInt32(at + 76, true) !== NAME_6
      )
        return -1
      const name = at + 80
      if (nameByte[bytes[name]!] !== LETTER) return -1
      at = name + 1
      while ((nameByte[bytes[at]!]! & (LETTER | DIGIT_OR_UNDERSCORE)) !== 0) at++
      if (at - name > 32 || bytes[at] !== QUOTE || bytes[at + 1] !== CLOSE_OBJECT) return -1
      if (count > 0 && !ascends(bytes, names[2 * count - 2]!, names[2 * count - 1]!, name, at)) return -1
      names[2 * count] = name
      names[2 * count + 1] = at
      const next = bytes[at + 2]
      if (next === CLOSE_LIST) {
        this.count = count + 1
        return at + 2
      }
      if (next !== COMMA) return -1
      at += 3
    }
    return -1
  }
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
