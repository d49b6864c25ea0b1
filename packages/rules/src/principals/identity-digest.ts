/** The look-up key of a principal: says whether (issuer, subject) was seen before without holding them in an index. */
import { concatBytes, portableCrypto, toHex, utf8 } from "@flyball/evidence"

/**
 * SHA-256 over both texts, each after its length in bytes, so that no pair reads like another.
 *
 * It is no secret: subjects are easy to guess. It lives beside the identity and is erased with it.
 */
export const identityDigest = (issuer: string, subject: string): string => {
  const pieces = [
    utf8("flyball/v1 principal\0"),
    ...[issuer, subject].map(utf8).flatMap((bytes) => [length32(bytes.length), bytes])
  ]
  return toHex(portableCrypto.sha256(concatBytes(...pieces)))
}

const length32 = (length: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, length)
  return bytes
}
