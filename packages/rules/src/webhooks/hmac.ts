/** HMAC-SHA-256 over whichever SHA-256 the host has. Spec: RFC 2104. */
/** SHA-256 of some bytes: `portableCrypto.sha256`, or the host's own. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const BLOCK_BYTES = 64
const HASH_BYTES = 32

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

/**
 * Where messages are put together, one after the other: two arrays for each code would cost more than its hashes.
 * Messages are events' envelopes; larger ones get an array of their own.
 */
const room = new Uint8Array(16 * 1_024)
const outer = new Uint8Array(BLOCK_BYTES + HASH_BYTES)

/** The code of a message that comes in pieces. Shape: 32 bytes. */
export const hmac = (key: HmacKey, pieces: ReadonlyArray<Uint8Array>, sha256: Sha256): Uint8Array => {
  let length = BLOCK_BYTES
  for (const piece of pieces) length += piece.length
  const message = length > room.length ? new Uint8Array(length) : room.subarray(0, length)
  message.set(key.inner)
  let at = BLOCK_BYTES
  for (const piece of pieces) {
    message.set(piece, at)
    at += piece.length
  }
  outer.set(key.outer)
  outer.set(sha256(message), BLOCK_BYTES)
  return sha256(outer)
}
