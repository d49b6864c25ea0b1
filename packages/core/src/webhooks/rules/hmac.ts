/** HMAC-SHA-256 over whichever SHA-256 the host has. Spec: RFC 2104. */
import { concatBytes } from "@flyball/evidence"

/** SHA-256 of some bytes: `portableCrypto.sha256`, or the host's own. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const BLOCK_BYTES = 64

/** A key made ready: what goes before the message, and before its hash. */
export interface HmacKey {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

/** Makes a key ready, once for many messages. */
export const hmacKey = (key: Uint8Array, sha256: Sha256): HmacKey => {
  const block = new Uint8Array(BLOCK_BYTES)
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key)
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) }
}

/** The code of a message that comes in pieces. Shape: 32 bytes. */
export const hmac = (key: HmacKey, pieces: ReadonlyArray<Uint8Array>, sha256: Sha256): Uint8Array =>
  sha256(concatBytes(key.outer, sha256(concatBytes(key.inner, ...pieces))))
