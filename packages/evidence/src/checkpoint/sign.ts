/** Signs checkpoints, and other notes of a log, with a key held in memory. */
import { toHex, utf8 } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import { cosignatureMessage, writeCosignature } from "../note/cosignature.ts"
import { signatureLine } from "../note/note.ts"
import { formatVkey, keyIdOf, signatureType } from "../note/vkey.ts"

/** A key that makes signature lines. */
export interface NoteSigner {
  readonly name: string
  readonly keyId: Uint8Array
  readonly keyIdHex: string
  readonly publicKey: Uint8Array
  readonly vkey: string
  /** The signature line for a text that ends in a newline. */
  readonly line: (text: string) => string
}

/** A signer of type 0x01, the log's own. `seed` is the 32-byte private key. Spec: format 1 section 4. */
export const noteSigner = (crypto: Crypto, key: { readonly name: string; readonly seed: Uint8Array }): NoteSigner =>
  signerOf(crypto, key, signatureType.ed25519, (text) => crypto.ed25519Sign(key.seed, utf8(text)))

/**
 * A cosigner of type 0x04. `timeS` is the time it states, in seconds since 1970. Spec: format 1 section 4; C2SP
 * tlog-cosignature.
 */
export const cosigner = (
  crypto: Crypto,
  key: { readonly name: string; readonly seed: Uint8Array; readonly timeS: number }
): NoteSigner =>
  signerOf(crypto, key, signatureType.cosignature, (text) =>
    writeCosignature(key.timeS, crypto.ed25519Sign(key.seed, cosignatureMessage(key.timeS, utf8(text))))
  )

const signerOf = (
  crypto: Crypto,
  key: { readonly name: string; readonly seed: Uint8Array },
  type: number,
  sign: (text: string) => Uint8Array
): NoteSigner => {
  const publicKey = crypto.ed25519PublicKey(key.seed)
  const keyId = keyIdOf(crypto, key.name, type, publicKey)
  return {
    name: key.name,
    keyId,
    keyIdHex: toHex(keyId),
    publicKey,
    vkey: formatVkey(key.name, publicKey, type),
    line: (text) => signatureLine(key.name, keyId, sign(text))
  }
}
