/** Keys that a pack names itself. They help to read it, and are never trusted. */
import { equalBytes, toHex } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import type { Vkey } from "../note/vkey.ts"
import { checkVkey, keyIdOf, signatureType } from "../note/vkey.ts"

/** Key hints out of K lines, record 0 and `key.rotated` records, and the rotations seen. */
export class Hints {
  /** Usable log keys, each once. */
  readonly vkeys: Array<Vkey> = []
  rotations = 0
  /** The first rotations, in words. */
  readonly rotationsListed: Array<string> = []
  readonly #crypto: Crypto
  readonly #seen = new Set<string>()

  constructor(crypto: Crypto) {
    this.#crypto = crypto
  }

  /** Notes a key. One that nobody could verify with is no help, and no fault either. */
  add(vkey: Vkey, origin: string): void {
    if (vkey.name !== origin || vkey.type !== signatureType.ed25519 || this.#seen.size >= MAX_HINTED_KEYS) return
    // Before it counts as seen: a wrong key id must not stand in the way of the same key with the right one.
    if (!equalBytes(keyIdOf(this.#crypto, vkey.name, vkey.type, vkey.publicKey), vkey.keyId)) return
    const key = toHex(vkey.publicKey)
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    if (checkVkey(this.#crypto, vkey) === null) this.vkeys.push(vkey)
  }

  /** Notes a `key.rotated` record. */
  addRotation(seq: number, fromKeyId: string, to: Vkey, origin: string): void {
    this.rotations++
    if (this.rotationsListed.length < MAX_LISTED_ROTATIONS) this.rotationsListed.push(`record ${seq} rotates the key from ${fromKeyId} to ${toHex(to.keyId)}`)
    this.add(to, origin)
  }
}

/** Each hint costs a signature check for every line that names it; a chain has a handful of keys in its life. */
const MAX_HINTED_KEYS = 256
const MAX_LISTED_ROTATIONS = 20
