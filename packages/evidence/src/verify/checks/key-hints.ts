/** Keys that a pack itself names. They help to describe a signer, and are never trusted. */
import { toHex } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import type { Note } from "../../note/note.ts"
import type { Vkey } from "../../note/vkey.ts"
import { checkVkey, isSameKey, keyIdOf, signatureType } from "../../note/vkey.ts"
import { LatestKeys } from "./latest-keys.ts"

/**
 * Key hints out of K lines, record 0 and `key.rotated` records, and the rotations seen.
 *
 * A chain may rotate its key any number of times, and memory must not grow with it. Of the keys in records, two sorts
 * are
 * kept: those that a signature line of a checkpoint names, and the latest, because the newest key closes a pack.
 */
export class KeyHints {
  /** Keys that were dropped. A signature by one of them counts as a signature by an unknown key. */
  passedOver = 0
  rotations = 0
  /** Lines of the K lines that hold no vkey. A pack has at most 64. */
  readonly unreadableLines: Array<number> = []
  /** Sentences about the first rotations. */
  readonly rotationsListed: Array<string> = []
  readonly #crypto: Crypto
  readonly #notes: Array<Note> = []
  /** By public key. */
  readonly #kept = new Map<string, Vkey>()
  readonly #latest = new LatestKeys()
  #origin = ""

  constructor(crypto: Crypto) {
    this.#crypto = crypto
  }

  /** Adds a checkpoint. Keys that its signature lines name are kept. Call it before the records. */
  expect(note: Note): void {
    this.#notes.push(note)
  }

  /** Adds the key of a K line. A key that cannot verify anything is ignored, and is not a fault. */
  add(vkey: Vkey | null, origin: string, line: number): void {
    if (vkey === null) this.unreadableLines.push(line)
    else if (this.#isUsable(vkey, origin)) this.#kept.set(toHex(vkey.publicKey), vkey)
  }

  /** Adds a key that a record names, in the order of records. */
  addRecorded(vkey: Vkey, origin: string): void {
    if (!this.#isUsable(vkey, origin)) return
    this.#origin = origin
    const key = toHex(vkey.publicKey)
    if (this.#kept.has(key)) return
    const isNamed = this.#notes.some(({ signatures }) => signatures.some((line) => isSameKey(line, vkey)))
    if (isNamed && this.#kept.size < MAX_KEPT) this.#kept.set(key, vkey)
    else if (this.#latest.add(vkey.publicKey)) this.passedOver++
  }

  /** Adds a `key.rotated` record. */
  addRotation(seq: number, fromKeyId: string, to: Vkey, origin: string): void {
    this.rotations++
    if (this.rotationsListed.length < MAX_LISTED_ROTATIONS) {
      this.rotationsListed.push(`record ${seq} rotates the key from ${fromKeyId} to ${toHex(to.keyId)}`)
    }
    this.addRecorded(to, origin)
  }

  /** The kept keys, each once. */
  get vkeys(): ReadonlyArray<Vkey> {
    const [name, type] = [this.#origin, signatureType.ed25519]
    const latest = this.#latest
      .all()
      .map((publicKey) => ({ name, type, publicKey, keyId: keyIdOf(this.#crypto, name, type, publicKey) }))
    return [...this.#kept.values(), ...latest]
  }

  /**
   * Signatures of the log can be verified with it. Keys with a wrong key id do not displace the same key with the right
   * id.
   */
  #isUsable(vkey: Vkey, origin: string): boolean {
    return vkey.name === origin && vkey.type === signatureType.ed25519 && checkVkey(this.#crypto, vkey) === null
  }
}

/** 64 K lines, and what two notes name. Bounded, because keys with equal key ids each cost a check for every line. */
const MAX_KEPT = 320
const MAX_LISTED_ROTATIONS = 20
