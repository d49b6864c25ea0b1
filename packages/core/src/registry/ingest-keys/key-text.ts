/** The text of an ingest key, and the digest that is kept of it. */
import { type Crypto, toBase64, utf8 } from "@flyball/evidence"

const keyCharacters = 47
/**
 * Where the text of a key is written to be hashed, and wiped at once: each request that carries a key comes by here.
 */
const keyBytes = new Uint8Array(keyCharacters)

/** How every ingest key begins, so that scanners for leaked secrets can know it. */
export const KEY_PREFIX = "fbk_"

/** Random bytes of a key. 256 bits cannot be guessed, so its plain SHA-256 is safe to keep and to publish. */
export const KEY_BYTES = 32

const FORM = /^fbk_[A-Za-z0-9_-]{43}$/

/** The text of a key. It has no dot: a token with a dot is a JWT. Spec: document 1 part 5. */
export const keyText = (random: Uint8Array): string =>
  KEY_PREFIX + toBase64(random).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

/** Reports whether a token can be an ingest key at all. */
export const isKeyText = (token: string): boolean => FORM.test(token)

/** Computes the digest that a key is found by: SHA-256, 64 lower-case hex digits. */
export const keyDigest = (crypto: Crypto, key: string): string =>
  digestOfToken(crypto, key) ?? crypto.sha256Hex(utf8(key))

/** {@link keyDigest} of a token that may be an ingest key; null for one that cannot. */
export const digestOfToken = (crypto: Crypto, token: string): string | null =>
  isKeyText(token) ? ownDigest(crypto, token) : null

const ownDigest = (crypto: Crypto, key: string): string => {
  for (let at = 0; at < keyCharacters; at++) keyBytes[at] = key.charCodeAt(at)
  const digest = crypto.sha256Hex(keyBytes)
  keyBytes.fill(0)
  return digest
}
