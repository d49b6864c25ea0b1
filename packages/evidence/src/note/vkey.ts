/** Verifier keys, the text form of a public key. Spec: C2SP signed-note, "Verifier keys". */
import { concatBytes, equalBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import { portableCrypto } from "../crypto.ts"
import { isStrictPublicKey } from "../ed25519/strict.ts"

/**
 * Signature types that C2SP has assigned; this package verifies the two Ed25519 ones. Spec: format 1 section 4; C2SP
 * signed-note.
 */
export const signatureType = { ed25519: 0x01, ecdsa: 0x02, cosignature: 0x04, treeHead: 0x05, mlDsa44: 0x06 } as const

/**
 * A public key with the name it signs under. `name` and `keyId` together identify it in a note. Spec: format 1 section
 * 4.
 */
export interface Vkey {
  readonly name: string
  /** Four bytes. */
  readonly keyId: Uint8Array
  readonly type: number
  readonly publicKey: Uint8Array
}

/** A vkey, or why the text is none. */
export type VkeyResult = { readonly ok: true; readonly vkey: Vkey } | { readonly ok: false; readonly reason: string }

/**
 * Reads `<name>+<hex key id>+<base64(type || public key)>`. It checks the form only; {@link checkVkey} says whether we
 * can verify with it.
 *
 * - Fails: never; the reason says what was expected.
 * - Spec: format 1 section 4.
 */
export const parseVkey = (text: string): VkeyResult => {
  const fields = text.split("+")
  // Base64 may hold plus signs: the key is everything after the second one.
  const [name, id] = fields
  if (name === undefined || id === undefined || fields.length < 3)
    return no("a vkey has three fields joined by +: name, key id, key")
  if (!isKeyName(name)) return no("the name of a vkey has at least one character, no space and no +")
  const keyId = fromHex(id)
  if (keyId === null || keyId.length !== KEY_ID_BYTES) return no("the key id of a vkey is 8 lower-case hex digits")
  const key = fromBase64(fields.slice(2).join("+"))
  if (key === null || key.length < 2) return no("the key of a vkey is base64 of a type byte and a public key")
  return { ok: true, vkey: { name, keyId, type: key[0]!, publicKey: key.subarray(1) } }
}

/**
 * The text form of a key: `<name>+<key id in hex>+<base64 of type and key>`. `type` is the signature type, one byte.
 * Spec: format 1 section 4.
 */
export const formatVkey = (name: string, publicKey: Uint8Array, type: number = signatureType.ed25519): string => {
  const keyId = toHex(keyIdOf(portableCrypto, name, type, publicKey))
  return `${name}+${keyId}+${toBase64(concatBytes(Uint8Array.of(type), publicKey))}`
}

/** The four bytes that name a key in a signature line. Spec: format 1 section 4. */
export const keyIdOf = (crypto: Crypto, name: string, type: number, publicKey: Uint8Array): Uint8Array =>
  crypto.sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(type), publicKey)).slice(0, KEY_ID_BYTES)

/** Why signatures by this key cannot be verified here; null if they can. Spec: format 1 section 4. */
export const checkVkey = (crypto: Crypto, vkey: Vkey): string | null => {
  if (!isVerifiable(vkey))
    return `its signature type 0x${toHex(Uint8Array.of(vkey.type))} is not one of 0x01 (Ed25519) and 0x04 (cosignature)`
  if (!isStrictPublicKey(vkey.publicKey)) return "its public key is not a canonical Ed25519 key of full order"
  if (!equalBytes(keyIdOf(crypto, vkey.name, vkey.type, vkey.publicKey), vkey.keyId))
    return "its key id does not belong to its name and key"
  return null
}

/** True for a key of a type that this package verifies. */
export const isVerifiable = (vkey: Vkey): boolean =>
  vkey.type === signatureType.ed25519 || vkey.type === signatureType.cosignature

/** True when two keys have the same name and key id: a signature line cannot tell them apart. */
export const isSameKey = (
  a: { readonly name: string; readonly keyId: Uint8Array },
  b: { readonly name: string; readonly keyId: Uint8Array }
): boolean => a.name === b.name && equalBytes(a.keyId, b.keyId)

/** True for a text that can name a key: not empty, no Unicode space, no plus sign. */
export const isKeyName = (name: string): boolean => name !== "" && !SPACE_OR_PLUS.test(name)

const KEY_ID_BYTES = 4
const SPACE_OR_PLUS = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]/u

const no = (reason: string): VkeyResult => ({ ok: false, reason })
