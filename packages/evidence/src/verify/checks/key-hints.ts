/** Keys that a pack names itself. They help to read it, and are never trusted. */
import { toHex } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import type { Note } from "../../note/note.ts"
import type { Vkey } from "../../note/vkey.ts"
import { checkVkey, isSameKey, keyIdOf, signatureType } from "../../note/vkey.ts"
import { LatestKeys } from "./latest-keys.ts"

/**
 * Key hints out of K lines, record 0 and `key.rotated` records, and the rotations seen.
 *
 * A chain may rotate its key without end, and memory may not grow with it. So what is kept of keys in records are those
 * that a signature line of a checkpoint names,
 * which stands before them; and the latest, since the key that closes a pack is the newest one, or signed the
 * checkpoint too.
 */
export class KeyHints {
  /** Keys that were let go of. A line that one of them made is taken for one of a key that nobody knows. */
  passedOver = 0
  rotations = 0
  /** Lines of the K lines that hold no vkey. A pack has at most 64. */
  readonly unreadableLines: Array<number> = []
  /** The first rotations, in words. */
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

  /** Takes a checkpoint: keys that its signature lines name are kept. To be called before the records come. */
  expect(note: Note): void {
    this.#notes.push(note)
  }

  /** Notes a K line and its key: a pack has few of them. One that nobody could verify with is no help, and no fault. */
  add(vkey: Vkey | null, origin: string, line: number): void {
    if (vkey === null) this.unreadableLines.push(line)
    else if (this.#isUsable(vkey, origin)) this.#kept.set(toHex(vkey.publicKey), vkey)
  }

  /** Notes a key that a record names, in the order of records. */
  addRecorded(vkey: Vkey, origin: string): void {
    if (!this.#isUsable(vkey, origin)) return
    this.#origin = origin
    const key = toHex(vkey.publicKey)
    if (this.#kept.has(key)) return
    if (
      this.#kept.size < MAX_KEPT &&
      this.#notes.some(({ signatures }) => signatures.some((line) => isSameKey(line, vkey)))
    )
      this.#kept.set(key, vkey)
    else if (this.#latest.add(vkey.publicKey)) this.passedOver++
  }

  /** Notes a `key.rotated` record. */
  addRotation(seq: number, fromKeyId: string, to: Vkey, origin: string): void {
    this.rotations++
    if (this.rotationsListed.length < MAX_LISTED_ROTATIONS)
      this.rotationsListed.push(`record ${seq} rotates the key from ${fromKeyId} to ${toHex(to.keyId)}`)
    this.addRecorded(to, origin)
  }

  /** The keys that were kept, each once. */
  get vkeys(): ReadonlyArray<Vkey> {
    const [name, type] = [this.#origin, signatureType.ed25519]
    return [
      ...this.#kept.values(),
      ...this.#latest
        .all()
        .map((publicKey) => ({ name, type, publicKey, keyId: keyIdOf(this.#crypto, name, type, publicKey) }))
    ]
  }

  /**
   * Whether signatures of the log can be verified with it. A wrong key id does not stand in the way of the same key
   * with the right one.
   */
  #isUsable(vkey: Vkey, origin: string): boolean {
    return vkey.name === origin && vkey.type === signatureType.ed25519 && checkVkey(this.#crypto, vkey) === null
  }
}

/**
 * 64 K lines, and what two notes name. Each costs a signature check for every line that names it, and somebody can make
 * keys with equal key ids.
 */
const MAX_KEPT = 320
const MAX_LISTED_ROTATIONS = 20
