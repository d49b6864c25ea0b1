/**
 * The text form of the signing key.
 *
 * One line, `PRIVATE+KEY+<origin>+<key id, 8 hex digits>+<base64 of 0x01 and the 32-byte seed>`: the form that the
 * signed-note tools of Go's checksum
 * database write, so that other tools can sign with it. Origin, key id and seed check each other.
 */
import { formatVkey, fromBase64, keyIdOf, toBase64, toHex, utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"

/** A log's name and its Ed25519 seed. */
export interface PrivateKey {
  readonly origin: string
  /** 32 bytes. */
  readonly seed: Uint8Array
  readonly publicKey: Uint8Array
  /** Public verifier key, as text. */
  readonly vkey: string
}

const ED25519 = 1

/** Everything that follows from an origin and a seed. */
export const privateKey = (origin: string, seed: Uint8Array): PrivateKey => {
  const publicKey = nodeCrypto.ed25519PublicKey(seed)
  return { origin, seed, publicKey, vkey: formatVkey(origin, publicKey) }
}

/** The line that goes into the file. */
export const formatPrivateKey = (key: PrivateKey): Uint8Array => {
  const material = new Uint8Array(33)
  material[0] = ED25519
  material.set(key.seed, 1)
  return utf8(`PRIVATE+KEY+${key.origin}+${keyIdHex(key)}+${toBase64(material)}\n`)
}

/** Reads the line back. Answers a sentence that never shows what was read. */
export const parsePrivateKey = (text: string): PrivateKey | string => {
  const match = /^PRIVATE\+KEY\+([\x21-\x2a\x2c-\x7e]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,200})\n$/.exec(text)
  if (match === null)
    return (
      "one line PRIVATE+KEY+<origin>+<key id>+<base64> is expected, and something else is there. Bring " +
      "the file back from a backup"
    )
  const material = fromBase64(match[3]!)
  if (material === null || material.length !== 33 || material[0] !== ED25519) {
    return (
      "an Ed25519 key of 32 bytes is expected, and the last field is something else. Bring the file back " +
      "from a backup"
    )
  }
  const key = privateKey(match[1]!, material.slice(1))
  return keyIdHex(key) === match[2]!
    ? key
    : "the key id does not belong to this origin and key, so one of the three was changed. Bring the file back " +
        "from a backup"
}

/** Its key id: 8 hex digits. */
export const keyIdHex = (key: PrivateKey): string => toHex(keyIdOf(nodeCrypto, key.origin, ED25519, key.publicKey))
