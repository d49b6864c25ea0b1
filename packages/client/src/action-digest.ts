/** The digest that binds a review to an action. */
import { canonicalBytes, concatBytes, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import type { Json } from "./wire.ts"

/**
 * `sha256:<hex>` over the RFC 8785 form of an action's arguments. Throws where they have none. Spec: format 1 section
 * 8, `evaluation.made`.
 */
export const actionDigest = (args: Json): string => digestText(portableCrypto.sha256(canonicalBytes(args as never)))

/**
 * The same under a key (HMAC-SHA-256), for arguments of which a part stays in the process: without the key nobody tries
 * out what that part may be. Written as `sha256:<hex>` too.
 */
export const keyedActionDigest = (key: Uint8Array, args: Json): string =>
  digestText(hmacSha256(key, canonicalBytes(args as never)))

/** The key that a text gives: the same in every process that has the text. */
export const digestKeyOf = (text: string): Uint8Array => portableCrypto.sha256(utf8(`flyball/action-digest\n${text}`))

/** Bytes of a block of SHA-256. */
const BLOCK = 64

/** RFC 2104. The key has 32 bytes. */
export const hmacSha256 = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const pad = (byte: number): Uint8Array => {
    const block = new Uint8Array(BLOCK).fill(byte)
    for (let at = 0; at < key.length; at++) block[at]! ^= key[at]!
    return block
  }
  const inner = portableCrypto.sha256(concatBytes(pad(0x36), message))
  return portableCrypto.sha256(concatBytes(pad(0x5c), inner))
}

const digestText = (digest: Uint8Array): string => `sha256:${toHex(digest)}`
