/** The text of a platform key: `fb_live_`, 43 characters of 256 random bits, and a checksum. */
import { type Crypto, utf8 } from "@flyball/evidence"

/** How every platform key begins, so that scanners for leaked secrets can know it. */
export const PLATFORM_KEY_PREFIX = "fb_live_"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const FORM = /^fb_live_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** Makes a key of 32 random bytes. It has no dot: a token with a dot is a JWT. Spec: document 2 section 5. */
export const platformKeyText = (random: Uint8Array): string => {
  const secret = base62(
    random.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n),
    43
  )
  return PLATFORM_KEY_PREFIX + secret + checksum(secret)
}

/** Reports whether a token can be a platform key: a mistyped one is refused without a read of the store. */
export const isPlatformKeyText = (token: string): boolean => {
  const [, secret = "", sum] = FORM.exec(token) ?? []
  return sum !== undefined && checksum(secret) === sum
}

/** The digest that a key is found by: SHA-256, 64 lower-case hex digits; null for a token that is no key. */
export const platformKeyDigest = (crypto: Crypto, token: string): string | null =>
  isPlatformKeyText(token) ? crypto.sha256Hex(utf8(token)) : null

const checksum = (secret: string): string => base62(BigInt(crc32(utf8(secret))), 6)

const base62 = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)]! + text
  return text
}

/** CRC-32 of IEEE 802.3, bit by bit: a key is 43 characters. */
const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffff_ffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0)
  }
  return (crc ^ 0xffff_ffff) >>> 0
}
