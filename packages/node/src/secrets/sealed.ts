/**
 * The sealed form of a secret, version 1: AES-256-GCM under one of several keys.
 *
 * `0x01 | key id, 8 bytes | nonce, 12 bytes | ciphertext | tag, 16 bytes`. Authenticated beside the ciphertext are the
 * first nine bytes and `boundTo`, so what
 * was sealed for one owner, or under another form, does not open.
 *
 * - Spec: document 1 section 6 (a secret is shown once). How it rests is a gap: decision 0020.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { toHex, utf8 } from "@flyball/evidence"

/** A key with what it is called. */
export interface SecretsKey {
  /** 16 hex digits: the first 8 bytes of SHA-256 of a label and the key. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/** Unit: bytes. */
export const SECRETS_KEY_BYTES = 32
const VERSION = 1
const KEY_ID_BYTES = 8
const HEAD_BYTES = 1 + KEY_ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = "aes-256-gcm"
const LABEL = utf8("flyball/secrets-key-id/v1\n")

/** Gives a key its id. */
export const secretsKey = (bytes: Uint8Array): SecretsKey => ({
  id: createHash("sha256")
    .update(LABEL)
    .update(bytes)
    .digest("hex")
    .slice(0, 2 * KEY_ID_BYTES),
  bytes
})

/** A new key. */
export const newSecretsKey = (): SecretsKey => secretsKey(new Uint8Array(randomBytes(SECRETS_KEY_BYTES)))

/** Seals under this key. The nonce is random: one key seals 2^32 secrets before that is a worry. */
export const seal = (key: SecretsKey, secret: Uint8Array, boundTo: string): Uint8Array => {
  const head = new Uint8Array([VERSION, ...Buffer.from(key.id, "hex")])
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES }).setAAD(bindingOf(head, boundTo))
  const sealed = Buffer.concat([head, nonce, cipher.update(secret), cipher.final()])
  return new Uint8Array(Buffer.concat([sealed, cipher.getAuthTag()]))
}

/** The id of the key that sealed this; null when it is no sealed secret of this version. */
export const sealedBy = (sealed: Uint8Array): string | null =>
  sealed.length >= HEAD_BYTES + NONCE_BYTES + TAG_BYTES && sealed[0] === VERSION
    ? toHex(sealed.subarray(1, HEAD_BYTES))
    : null

/** Opens with the key that sealed it; null when the bytes were changed or the owner is another. */
export const unseal = (key: SecretsKey, sealed: Uint8Array, boundTo: string): Uint8Array | null => {
  const decipher = createDecipheriv(CIPHER, key.bytes, sealed.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES), {
    authTagLength: TAG_BYTES
  })
    .setAAD(bindingOf(sealed.subarray(0, HEAD_BYTES), boundTo))
    .setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return new Uint8Array(
      Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    )
  } catch {
    return null
  }
}

/** The head has a fixed length, so no two owners give the same bytes. */
const bindingOf = (head: Uint8Array, boundTo: string): Uint8Array => Buffer.concat([head, utf8(boundTo)])
