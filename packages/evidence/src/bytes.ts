/** Bytes and their text forms: hex, base64, UTF-8. Plain `Uint8Array`, so that it runs in a browser. */

const hexOfByte: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Value of a lower-case hex digit by its ASCII code, 255 for every other byte. */
export const hexValue: Uint8Array = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256).fill(255)
  for (let value = 0; value < 16; value++) table["0123456789abcdef".charCodeAt(value)] = value
  return table
})()

/** Lower-case hex of some bytes. */
export const toHex = (bytes: Uint8Array): string => {
  if (bytes.length === HASH_BYTES) return hashHex(bytes)
  let text = ""
  for (let i = 0; i < bytes.length; i++) text += hexOfByte[bytes[i]!]!
  return text
}

const HASH_BYTES = 32
const digits = hexOfByte.map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)] as const)
const highDigit = Uint8Array.from(digits, ([high]) => high)
const lowDigit = Uint8Array.from(digits, ([, low]) => low)
const hashDigits = new Array<number>(2 * HASH_BYTES).fill(0)

/**
 * Hashes are most of what is written in hex: as one text they take a third of the time of one that grows, and leave
 * less behind.
 */
const hashHex = (hash: Uint8Array): string => {
  for (let i = 0; i < HASH_BYTES; i++) {
    hashDigits[2 * i] = highDigit[hash[i]!]!
    hashDigits[2 * i + 1] = lowDigit[hash[i]!]!
  }
  return String.fromCharCode(...hashDigits)
}

/** Bytes of a lower-case hex text; null when it is anything else. */
export const fromHex = (text: string): Uint8Array | null => {
  if (text.length % 2 !== 0) return null
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    const high = nibble(text.charCodeAt(2 * i))
    const low = nibble(text.charCodeAt(2 * i + 1))
    if (high > 15 || low > 15) return null
    bytes[i] = (high << 4) | low
  }
  return bytes
}

const nibble = (code: number): number => (code < 256 ? hexValue[code]! : 255)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
/** No value of a digit, and none of two digits together. */
const NO_SEXTET = 0x1000
const sextetCode = /* @__PURE__ */ Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0))
const sextetValue = /* @__PURE__ */ (() => {
  const table = new Uint16Array(256).fill(NO_SEXTET)
  for (let value = 0; value < 64; value++) table[sextetCode[value]!] = value
  return table
})()
const padding = 0x3d

/** Base64 with padding. Spec: RFC 4648 section 4. */
export const toBase64 = (bytes: Uint8Array): string => {
  const codes = new Uint8Array(base64Digits(bytes.length))
  base64Into(bytes, codes, 0)
  return asciiDecoder.decode(codes)
}

/** How many digits {@link base64Into} writes for so many bytes. */
export const base64Digits = (length: number): number => Math.ceil(length / 3) * 4

/** Writes the base64 of `bytes` to `out` from index `at` on, and answers the index behind it. */
export const base64Into = (bytes: Uint8Array, out: Uint8Array, at: number): number => {
  const whole = bytes.length - (bytes.length % 3)
  let to = at
  for (let i = 0; i < whole; i += 3) {
    const word = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!
    out[to] = sextetCode[word >>> 18]!
    out[to + 1] = sextetCode[(word >>> 12) & 63]!
    out[to + 2] = sextetCode[(word >>> 6) & 63]!
    out[to + 3] = sextetCode[word & 63]!
    to += 4
  }
  if (whole === bytes.length) return to
  const two = whole + 2 === bytes.length
  const word = (bytes[whole]! << 16) | (two ? bytes[whole + 1]! << 8 : 0)
  out[to] = sextetCode[word >>> 18]!
  out[to + 1] = sextetCode[(word >>> 12) & 63]!
  out[to + 2] = two ? sextetCode[(word >>> 6) & 63]! : padding
  out[to + 3] = padding
  return to + 4
}

/**
 * Bytes of a base64 text, or null. Strict: padded, no white space, no bits left over, so that a text has one form only.
 *
 * - Spec: RFC 4648 section 4; format 1 asks for "re-encode and compare", which this equals.
 */
export const fromBase64 = (text: string): Uint8Array | null => {
  if (text.length % 4 !== 0) return null
  if (text.length === 0) return new Uint8Array(0)
  const pads = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - pads)
  const whole = text.length - (pads > 0 ? 4 : 0)
  let out = 0
  for (let i = 0; i < whole; i += 4) {
    const high = (sextet(text, i) << 6) | sextet(text, i + 1)
    const low = (sextet(text, i + 2) << 6) | sextet(text, i + 3)
    if ((high | low) >= NO_SEXTET) return null
    bytes[out++] = high >>> 4
    bytes[out++] = (high << 4) | (low >>> 8)
    bytes[out++] = low
  }
  if (pads === 0) return bytes
  const high = (sextet(text, whole) << 6) | sextet(text, whole + 1)
  const last = pads === 1 ? sextet(text, whole + 2) : 0
  // Bits that no byte takes must be zero.
  if ((high | last) >= NO_SEXTET || (pads === 1 ? last & 3 : high & 15) !== 0) return null
  bytes[out++] = high >>> 4
  if (pads === 1) bytes[out] = (high << 4) | (last >>> 2)
  return bytes
}

/** Value of a digit, or `NO_SEXTET`. */
const sextet = (text: string, at: number): number => sextetValue[text.charCodeAt(at)] ?? NO_SEXTET

/** One array with the content of all of these. */
export const concatBytes = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  let length = 0
  for (const part of parts) length += part.length
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** True when two arrays hold the same bytes. Not constant in time: nothing secret is compared here. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * Gives the memory of bytes back at once, when they are all of their buffer and nobody wants them any more. The
 * collector sees only how little an array is, and lets megabytes wait.
 */
export const releaseBytes = ({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void => {
  // Node 20 has no such method; there the collector takes its time.
  if (byteLength === buffer.byteLength && typeof buffer.transfer === "function") buffer.transfer(0)
}

const encoder = /* @__PURE__ */ new TextEncoder()
const asciiDecoder = /* @__PURE__ */ new TextDecoder("latin1")
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** UTF-8 of a text. A lone surrogate has no UTF-8 form and becomes U+FFFD: check first where that matters. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/**
 * Drops one UTF-8 byte order mark at the start, for readers of what people or other programs wrote. Bytes that are
 * hashed keep theirs. Spec: RFC 8259 section 8.1.
 */
export const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** Text of some UTF-8 bytes, a byte-order mark included; null when they are not well-formed UTF-8. */
export const fromUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}
