/** Salted commitments to parts. Spec: format 1 section 3. */
import { utf8 } from "./bytes.ts"

/** Bytes of a salt: one block of random bytes per part, erased together with it. Spec: format 1 section 3. */
export const SALT_BYTES = 32

/** Prefix of every committed text. */
export const COMMITMENT_PREFIX = utf8("flyball/v1 part\0")
const BLOCK = 64
const scratch = new Uint8Array(16 * 1024)
const outer = new Uint8Array(BLOCK + 32)

/**
 * Commitment to a part: HMAC-SHA-256 with the salt as key, over a prefix, the length of the name, the name and the
 * bytes.
 *
 * HMAC is written out as two one-shot hashes over a scratch buffer: that is several times faster than any streaming
 * HMAC.
 *
 * - Fails: `RangeError` when the salt is not 32 bytes; that is a bug of the caller.
 * - Spec: format 1 section 3.
 */
export const commitmentWith = (
  sha256: (bytes: Uint8Array) => Uint8Array,
  salt: Uint8Array,
  name: string,
  part: Uint8Array
): Uint8Array => {
  if (salt.length !== SALT_BYTES) throw new RangeError(`A salt has ${SALT_BYTES} bytes; this one has ${salt.length}.`)
  const nameBytes = utf8(name)
  const length = BLOCK + COMMITMENT_PREFIX.length + 4 + nameBytes.length + part.length
  const inner = length <= scratch.length ? scratch.subarray(0, length) : new Uint8Array(length)
  for (let i = 0; i < SALT_BYTES; i++) {
    const byte = salt[i]!
    inner[i] = byte ^ 0x36
    outer[i] = byte ^ 0x5c
  }
  inner.fill(0x36, SALT_BYTES, BLOCK)
  outer.fill(0x5c, SALT_BYTES, BLOCK)
  inner.set(COMMITMENT_PREFIX, BLOCK)
  let at = BLOCK + COMMITMENT_PREFIX.length
  inner[at++] = nameBytes.length >>> 24
  inner[at++] = nameBytes.length >>> 16
  inner[at++] = nameBytes.length >>> 8
  inner[at++] = nameBytes.length
  inner.set(nameBytes, at)
  inner.set(part, at + nameBytes.length)
  outer.set(sha256(inner), BLOCK)
  const commitment = sha256(outer)
  // The scratch outlives this call; an erased part must not survive in it.
  inner.fill(0)
  outer.fill(0)
  return commitment
}
