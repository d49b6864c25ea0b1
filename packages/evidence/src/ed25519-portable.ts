/** Ed25519 in plain JavaScript, cofactorless as OpenSSL is. */
import { etc, hash, hashes, Point, getPublicKey, sign } from "@noble/ed25519"
import { sha512 } from "@noble/hashes/sha2.js"
import { equalBytes } from "./bytes.ts"

/**
 * True when a signature satisfies `S·B = R + k·A`, compared as encoded bytes.
 *
 * noble's own `verify` multiplies by the cofactor, so it accepts signatures that OpenSSL refuses; format 1 is
 * cofactorless.
 *
 * - Fails: never; malformed input reads false.
 * - Spec: RFC 8032 section 5.1.7, format 1 section 6.
 */
export const ed25519Verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const r = signature.subarray(0, 32)
  const s = littleEndian(signature.subarray(32))
  if (s >= ORDER) return false
  try {
    const a = Point.fromBytes(publicKey)
    const k = littleEndian(withSha512(() => hash(etc.concatBytes(r, publicKey, message)))) % ORDER
    const expected = Point.BASE.multiply(s, false).subtract(a.multiply(k, false))
    return equalBytes(expected.toBytes(), r)
  } catch {
    return false
  }
}

/** Signature over a message by the key of a 32-byte seed. */
export const ed25519Sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => withSha512(() => sign(message, seed))

/** Public key of a 32-byte seed. */
export const ed25519PublicKey = (seed: Uint8Array): Uint8Array => withSha512(() => getPublicKey(seed))

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

const littleEndian = (bytes: Uint8Array): bigint => {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!)
  return value
}

/**
 * noble's synchronous calls take SHA-512 from a module-wide slot: filled on use, so that importing us has no side
 * effect.
 */
const withSha512 = <A>(run: () => A): A => {
  hashes.sha512 ??= sha512
  return run()
}
