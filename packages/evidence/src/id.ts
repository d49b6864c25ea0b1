/** Identifiers: a typed prefix and 128 bits in Crockford base 32, lower case, so that they sort by time. */

/** The digits of identifiers, least first. Spec: format 1 section 7. */
export const ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
const LENGTH = 26

/** The letters' units: text is made at once from units, several times faster than by adding letter to letter. */
const units = Uint8Array.from(ID_LETTERS, (letter) => letter.charCodeAt(0))
const unit = (bits: number): number => units[bits & 31]!

/**
 * An identifier from 16 bytes.
 *
 * - `prefix`: with its underscore, `agt_`.
 * - Shape: prefix + 26 characters; the first carries three bits, so it is 0 to 7.
 * - Spec: format 1 section 7.
 */
export const encodeId = (prefix: string, bytes: Uint8Array): string => {
  if (bytes.length !== 16) throw new RangeError(`An identifier has 16 bytes; these are ${bytes.length}.`)
  const b = bytes as Uint8Array & FixedBytes
  // 128 bits are 26 groups of five, with two zero bits in front: six bytes, and then twice five, end where a group
  // does.
  return (
    prefix +
    String.fromCharCode(
      unit(b[0] >> 5),
      unit(b[0]),
      unit(b[1] >> 3),
      unit((b[1] << 2) | (b[2] >> 6)),
      unit(b[2] >> 1),
      unit((b[2] << 4) | (b[3] >> 4)),
      unit((b[3] << 1) | (b[4] >> 7)),
      unit(b[4] >> 2),
      unit((b[4] << 3) | (b[5] >> 5)),
      unit(b[5]),
      unit(b[6] >> 3),
      unit((b[6] << 2) | (b[7] >> 6)),
      unit(b[7] >> 1),
      unit((b[7] << 4) | (b[8] >> 4)),
      unit((b[8] << 1) | (b[9] >> 7)),
      unit(b[9] >> 2),
      unit((b[9] << 3) | (b[10] >> 5)),
      unit(b[10]),
      unit(b[11] >> 3),
      unit((b[11] << 2) | (b[12] >> 6)),
      unit(b[12] >> 1),
      unit((b[12] << 4) | (b[13] >> 4)),
      unit((b[13] << 1) | (b[14] >> 7)),
      unit(b[14] >> 2),
      unit((b[14] << 3) | (b[15] >> 5)),
      unit(b[15])
    )
  )
}

/** Says that the sixteen are there. */
type FixedBytes = { readonly [at in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15]: number }

/** The 16 bytes of an identifier with this prefix, or null. Spec: format 1 section 7. */
export const decodeId = (prefix: string, id: string): Uint8Array | null => {
  if (id.length !== prefix.length + LENGTH || !id.startsWith(prefix)) return null
  const bytes = new Uint8Array(16)
  for (let group = 0; group < LENGTH; group++) {
    const value = ID_LETTERS.indexOf(id[prefix.length + group]!)
    if (value < 0 || (group === 0 && value > 7)) return null
    const bit = group * 5 - 2
    const byte = bit >> 3
    const spread = value << (11 - (bit & 7))
    if (byte >= 0) bytes[byte]! |= spread >> 8
    if (byte < 15) bytes[byte + 1]! |= spread & 255
  }
  return bytes
}

/**
 * Content of a decision's identifier. It is derived from the decision's record, never stored. Spec: format 1 section 7;
 * decision 0001.
 */
export interface DecisionRef {
  readonly atMs: number
  readonly seq: number
  /** First 4 bytes of SHA-256 of the origin. */
  readonly originTag: Uint8Array
}

const PREFIX = "dec_"
const LIMIT = 2 ** 48

/**
 * The identifier of the decision in a record: 48 bits of its time, 48 bits of its seq, 32 bits that name the chain.
 *
 * - Fails: `RangeError` for a time before 1970 or a number over 48 bits.
 * - Spec: format 1 section 7; decision 0001.
 */
export const decisionId = (atMs: number, seq: number, originTag: Uint8Array): string => {
  if (!fits(atMs) || !fits(seq) || originTag.length !== 4) {
    throw new RangeError(
      `A decision's identifier holds a time and a seq of 48 bits and a tag of 4 bytes; these are ${atMs}, ` +
        `${seq} and ${originTag.length} bytes.`
    )
  }
  const bytes = new Uint8Array(16)
  put48(bytes, 0, atMs)
  put48(bytes, 6, seq)
  bytes.set(originTag, 12)
  return encodeId(PREFIX, bytes)
}

/** Parses a decision's identifier; null for any other text. Spec: format 1 section 7; decision 0001. */
export const parseDecisionId = (id: string): DecisionRef | null => {
  const bytes = decodeId(PREFIX, id)
  return bytes === null ? null : { atMs: get48(bytes, 0), seq: get48(bytes, 6), originTag: bytes.slice(12) }
}

const fits = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < LIMIT

const put48 = (bytes: Uint8Array, at: number, value: number): void => {
  const high = Math.floor(value / 2 ** 32)
  const low = value >>> 0
  bytes[at] = high >>> 8
  bytes[at + 1] = high
  bytes[at + 2] = low >>> 24
  bytes[at + 3] = low >>> 16
  bytes[at + 4] = low >>> 8
  bytes[at + 5] = low
}

const get48 = (bytes: Uint8Array, at: number): number => {
  let value = 0
  for (let i = 0; i < 6; i++) value = value * 256 + bytes[at + i]!
  return value
}
