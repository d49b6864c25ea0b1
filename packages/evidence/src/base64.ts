/**
 * Base64 where it lies, two digits at a time: the parts in a pack are mostly this. Spec: RFC 4648 section 4; format 1
 * asks for "re-encode and compare", which this equals.
 */

/**
 * The twelve bits of two digits by their little-endian 16-bit number; `NO_DIGITS` for anything else. Only a few lines
 * of it are ever touched.
 */
const pairs = /* @__PURE__ */ (() => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  const table = new Uint16Array(65_536).fill(0x1000)
  for (let high = 0; high < 64; high++) {
    for (let low = 0; low < 64; low++)
      table[(alphabet.charCodeAt(low) << 8) | alphabet.charCodeAt(high)] = (high << 6) | low
  }
  return table
})()
const NO_DIGITS = 0x1000
const PAD = 0x3d
const LETTER_A = 0x41

/**
 * Decodes the digits from `start` on, up to the first byte that is none, and at most up to `limit`. Answers the index
 * behind them and their padding; -1 when they are not
 * base64 in its one form: padded, no bits left over.
 *
 * `out` has room for three bytes for every four digits, and one more: it is written in words.
 */
export const decodeBase64 = (text: DataView, start: number, limit: number, out: DataView, to: number): number => {
  let at = start
  let written = to
  for (; at + 4 <= limit; at += 4) {
    const digits = text.getInt32(at, true)
    const high = pairs[digits & 0xffff]!
    const low = pairs[digits >>> 16]!
    if ((high | low) >= NO_DIGITS) break
    out.setInt32(written, (high << 20) | (low << 8))
    written += 3
  }
  return at + 4 <= limit && isPadded(text, at)
    ? padded(text, at, out, written)
    : at < limit && pairs[(LETTER_A << 8) | text.getUint8(at)]! < NO_DIGITS
      ? -1
      : at
}

/** How many bytes some digits stand for. */
export const base64Length = (text: DataView, start: number, end: number): number =>
  ((end - start) / 4) * 3 -
  (end > start && text.getUint8(end - 1) === PAD ? (text.getUint8(end - 2) === PAD ? 2 : 1) : 0)

const isPadded = (text: DataView, at: number): boolean => text.getUint8(at + 3) === PAD

/** The last four digits, of which one or two are pads. */
const padded = (text: DataView, at: number, out: DataView, to: number): number => {
  const high = pairs[text.getUint16(at, true)]!
  if (high >= NO_DIGITS) return -1
  const third = text.getUint8(at + 2)
  if (third === PAD) {
    if ((high & 15) !== 0) return -1
    out.setUint8(to, high >>> 4)
    return at + 4
  }
  // The third digit stands for six bits, of which the last two must be none.
  const low = pairs[(LETTER_A << 8) | third]!
  if (low >= NO_DIGITS || (low & 0xff) !== 0) return -1
  out.setUint8(to, high >>> 4)
  out.setUint8(to + 1, ((high & 15) << 4) | (low >>> 8))
  return at + 4
}
