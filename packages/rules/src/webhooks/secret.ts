/** The secret that a webhook signs with. Spec: Standard Webhooks, "Signature scheme"; document 2 section 6. */
import { fromBase64, toBase64, utf8 } from "@flyball/evidence"
import { type HmacKey, hmacKey, type Sha256 } from "./hmac.ts"

/** First characters of every secret, so that secret scanners recognise it. Spec: Standard Webhooks 1.0. */
export const SECRET_PREFIX = "whsec_"

/** Random bytes of a secret that we make. Spec: Standard Webhooks 1.0. */
export const SECRET_BYTES = 32

/** Bytes that a secret may have. Unit: bytes. Standard Webhooks allows no others. */
const MIN_BYTES = 24
const MAX_BYTES = 64

/** The text of a secret, as its owner is shown it once. Spec: Standard Webhooks 1.0. */
export const secretText = (random: Uint8Array): string => SECRET_PREFIX + toBase64(random)

/** The bytes after the prefix; null if the text is not a secret. Spec: Standard Webhooks 1.0. */
export const secretBytes = (secret: string): Uint8Array | null => {
  if (!secret.startsWith(SECRET_PREFIX)) return null
  const bytes = fromBase64(secret.slice(SECRET_PREFIX.length))
  return bytes !== null && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES ? bytes : null
}

/** The two keys of one secret. */
export interface SecretKeys {
  /**
   * Of `X-Platform-Signature`: the UTF-8 bytes of the whole text, prefix included, as libraries for that header take
   * it.
   */
  readonly text: HmacKey
  /** Of `webhook-signature`: the decoded bytes behind the prefix. */
  readonly bytes: HmacKey
}

/**
 * The keys of a secret; null if the text is not a secret. Spec: document 2 section 6, rule 1; Standard Webhooks 1.0.
 */
export const secretKeys = (secret: string, sha256: Sha256): SecretKeys | null => {
  const bytes = secretBytes(secret)
  return bytes === null ? null : { text: hmacKey(utf8(secret), sha256), bytes: hmacKey(bytes, sha256) }
}
