/** Hex digits where they lie, two at a time: hashes in a record are most of what a scanner reads. */
import { hexValue } from "../bytes.ts"

/**
 * Value of two hex digits by their little-endian 16-bit number; above 255 for anything else. Only a few lines of it are
 * ever touched.
 */
const hexPair = /* @__PURE__ */ (() => {
  const table = new Uint16Array(65_536).fill(0x100)
  for (let high = 0; high < 256; high++) {
    for (let low = 0; low < 256; low++) {
      if (hexValue[high]! < 16 && hexValue[low]! < 16)
        table[(low << 8) | high] = (hexValue[high]! << 4) | hexValue[low]!
    }
  }
  return table
})()

/** The two hex digits of a byte as a little-endian 16-bit number. */
const hexDigits = /* @__PURE__ */ Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = "0123456789abcdef"
  return digits.charCodeAt(byte >> 4) | (digits.charCodeAt(byte & 15) << 8)
})

/** Whether 64 bytes are lower-case hex digits. */
export const isHash = (view: DataView, at: number): boolean => {
  let seen = 0
  for (let i = 0; i < 64; i += 2) seen |= hexPair[view.getUint16(at + i, true)]!
  return seen < 0x100
}

/**
 * Writes the 32 bytes that 64 lower-case hex digits stand for; false when they are none, and then what was written
 * means nothing.
 */
export const readHash = (view: DataView, at: number, out: Uint8Array, to: number): boolean => {
  let seen = 0
  for (let i = 0; i < 32; i++) {
    const value = hexPair[view.getUint16(at + 2 * i, true)]!
    out[to + i] = value
    seen |= value
  }
  return seen < 0x100
}

/** Whether 64 bytes are the lower-case hex of the hash at `from`. */
export const isHexOf = (view: DataView, at: number, hashes: Uint8Array, from: number): boolean => {
  let difference = 0
  for (let i = 0; i < 32; i += 2)
    difference |=
      view.getInt32(at + 2 * i, true) ^ (hexDigits[hashes[from + i]!]! | (hexDigits[hashes[from + i + 1]!]! << 16))
  return difference === 0
}
