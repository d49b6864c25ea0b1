/** The Ed25519 rules of format 1, in front of whatever a library does. */
import type { Crypto } from "../crypto.ts"

/**
 * Verifies an Ed25519 signature by the rules of format 1.
 *
 * Libraries differ on the edges: older OpenSSL takes small-order and non-canonical keys, others take a large S.
 * These checks make every verifier say the same, on every machine.
 *
 * - Fails: never; a malformed key or signature is `false`.
 * - Spec: format 1 section 4. RFC 8032 section 5.1.7, without the cofactor.
 */
export const verifyEd25519 = (
  crypto: Crypto,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array
): boolean =>
  signature.length === SIGNATURE_BYTES &&
  isStrictPublicKey(publicKey) &&
  isStrictPoint(signature, 0) &&
  isReducedScalar(signature, POINT_BYTES) &&
  crypto.ed25519Verify(publicKey, message, signature)

/**
 * True for bytes that can be a public key: 32 bytes, canonical, not of small order. A point off the curve is left to
 * the library. Spec: format 1 section 4.
 */
export const isStrictPublicKey = (publicKey: Uint8Array): boolean =>
  publicKey.length === POINT_BYTES && isStrictPoint(publicKey, 0)

const POINT_BYTES = 32
const SIGNATURE_BYTES = 64

/** p = 2^255 - 19, little-endian. */
const FIELD_PRIME = littleEndian(2n ** 255n - 19n)
/** L = 2^252 + 27742317777372353535851937790883648493, the order of the base point. */
const GROUP_ORDER = littleEndian(2n ** 252n + 27742317777372353535851937790883648493n)

/**
 * The y of the eight points of small order; each stands for x and -x. Those of order 8 are roots of d·y⁴ + 2y² - 1 = 0.
 * With a key among them anybody can make signatures.
 */
const SMALL_ORDER_Y: ReadonlyArray<Uint8Array> = [
  littleEndian(0n),
  littleEndian(1n),
  littleEndian(2n ** 255n - 20n),
  littleEndian(0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n),
  littleEndian(0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n)
]

/**
 * A point is strict when its y is below p and it is not of small order. x = 0 with a sign bit only occurs at small
 * order.
 */
const isStrictPoint = (bytes: Uint8Array, at: number): boolean =>
  isBelow(bytes, at, FIELD_PRIME, 0x7f) && !SMALL_ORDER_Y.some((y) => isSame(bytes, at, y))

const isReducedScalar = (bytes: Uint8Array, at: number): boolean => isBelow(bytes, at, GROUP_ORDER, 0xff)

const isBelow = (bytes: Uint8Array, at: number, limit: Uint8Array, topMask: number): boolean => {
  for (let i = POINT_BYTES - 1; i >= 0; i--) {
    const byte = i === POINT_BYTES - 1 ? bytes[at + i]! & topMask : bytes[at + i]!
    if (byte !== limit[i]) return byte < limit[i]!
  }
  return false
}

const isSame = (bytes: Uint8Array, at: number, y: Uint8Array): boolean => {
  for (let i = 0; i < POINT_BYTES - 1; i++) if (bytes[at + i] !== y[i]) return false
  return (bytes[at + POINT_BYTES - 1]! & 0x7f) === y[POINT_BYTES - 1]
}

function littleEndian(value: bigint): Uint8Array {
  const bytes = new Uint8Array(POINT_BYTES)
  for (let i = 0, rest = value; i < POINT_BYTES; i++, rest >>= 8n) bytes[i] = Number(rest & 0xffn)
  return bytes
}
