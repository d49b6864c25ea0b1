/** Reads a D line where it lies, and makes the commitment to what it discloses. Spec: format 1 sections 3 and 5. */
import { base64Length, decodeBase64 } from "../base64.ts"
import { COMMITMENT_PREFIX, SALT_BYTES } from "../commitment.ts"
import type { Crypto } from "../crypto.ts"
import { MAX_PART_BYTES } from "../pack/format.ts"
import { DIGIT_OR_UNDERSCORE, LETTER, nameByte } from "../record/part-scanner.ts"
import { readSeq } from "../record/read-seq.ts"

/**
 * A reusable reader of D lines. It takes a line of the one form that format 1 asks for and nothing else; what is wrong
 * with another is for others
 * to say. It makes no values on the way: the part is decoded to where it is hashed, behind the salt and the name.
 */
export class DisclosedLine {
  seq = 0
  /** Where the name of the part lies. */
  nameStart = 0
  nameEnd = 0
  readonly #crypto: Pick<Crypto, "sha256Into">
  #bytes: Uint8Array = NOTHING
  #view: DataView = NOTHING_VIEW
  /** What the inner hash is over: the key's block, the prefix, the name and its length, the part. */
  #message = messageOf(NAME)
  #messageView = new DataView(this.#message.buffer)
  /** Views of the message by length: making one costs as much as hashing it. */
  #views: Array<Uint8Array | undefined> = []
  /** Bytes of the message read last, and of all since it was last forgotten. */
  #length = NAME
  #used = NAME
  /** The key's other block, and the inner hash. */
  readonly #outer = new Uint8Array(BLOCK + 32).fill(0x5c, SALT_BYTES, BLOCK)
  readonly #salt = new Uint8Array(SALT_BYTES + 4)
  readonly #saltView = new DataView(this.#salt.buffer)

  constructor(crypto: Pick<Crypto, "sha256Into">) {
    this.#crypto = crypto
  }

  /** The lines to come lie in these bytes. */
  attach(bytes: Uint8Array): void {
    if (this.#bytes === bytes) return
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#room(NAME + MAX_NAME_BYTES + Math.ceil(bytes.length / 4) * 3 + 4)
  }

  /**
   * Reads the payload from `start` on, up to what ends its last field, and at most up to `limit`. Answers the index
   * behind it, or -1 when there may be something to say of it.
   */
  read(start: number, limit: number): number {
    const bytes = this.#bytes
    const name = readSeq(bytes, start, this) + 1
    if (name === 0 || bytes[name - 1] !== SPACE) return -1
    const salt = this.#readName(bytes, name) + 1
    const part = salt + SALT_DIGITS + 1
    if (salt === 0 || part > limit || bytes[salt - 1] !== SPACE || bytes[part - 1] !== SPACE) return -1
    // 32 bytes are 43 digits and a pad.
    if (
      bytes[part - 2] !== PAD ||
      bytes[part - 3] === PAD ||
      decodeBase64(this.#view, salt, part - 1, this.#saltView, 0) !== part - 1
    )
      return -1
    return this.#readPart(bytes, part, limit)
  }

  /** Writes the commitment to what was read last. */
  commit(out: Uint8Array, to: number): void {
    const outer = this.#outer
    const message = this.#message
    const salt = this.#salt
    for (let i = 0; i < SALT_BYTES; i++) {
      const byte = salt[i]!
      message[i] = byte ^ 0x36
      outer[i] = byte ^ 0x5c
    }
    this.#crypto.sha256Into(this.#messageOf(this.#length), outer, BLOCK)
    this.#crypto.sha256Into(outer, out, to)
  }

  /** Forgets what was read: it outlives the lines, and an erased part must not survive in it. */
  forget(): void {
    this.#salt.fill(0)
    this.#outer.fill(0, 0, SALT_BYTES)
    this.#message.fill(0, 0, SALT_BYTES)
    this.#message.fill(0, NAME, this.#used)
    this.#used = NAME
    this.#bytes = NOTHING
    this.#view = NOTHING_VIEW
  }

  #readName(bytes: Uint8Array, start: number): number {
    if (nameByte[bytes[start]!] !== LETTER) return -1
    let at = start
    while ((nameByte[bytes[at]!]! & (LETTER | DIGIT_OR_UNDERSCORE)) !== 0) at++
    this.nameStart = start
    this.nameEnd = at
    return at - start <= MAX_NAME_BYTES ? at : -1
  }

  #readPart(bytes: Uint8Array, start: number, limit: number): number {
    const message = this.#message
    const nameBytes = this.nameEnd - this.nameStart
    message[NAME - 1] = nameBytes
    for (let i = 0; i < nameBytes; i++) message[NAME + i] = bytes[this.nameStart + i]!
    const end = decodeBase64(this.#view, start, limit, this.#messageView, NAME + nameBytes)
    if (end < 0) return -1
    const partBytes = base64Length(this.#view, start, end)
    this.#length = NAME + nameBytes + partBytes
    // What is written behind it in words is never hashed, and is overwritten or forgotten.
    this.#used = Math.max(this.#used, this.#length + 4)
    return partBytes <= MAX_PART_BYTES ? end : -1
  }

  #room(bytes: number): void {
    if (bytes <= this.#message.length) return
    this.#message = messageOf(bytes)
    this.#messageView = new DataView(this.#message.buffer)
    this.#views = []
  }

  #messageOf(length: number): Uint8Array {
    return length < MAX_VIEWS
      ? (this.#views[length] ??= this.#message.subarray(0, length))
      : this.#message.subarray(0, length)
  }
}

/**
 * Room for a message, with what never changes: the key's block behind the key, the prefix, and three of the four bytes
 * of the name's length.
 */
const messageOf = (bytes: number): Uint8Array<ArrayBuffer> => {
  const message = new Uint8Array(bytes)
  message.fill(0x36, SALT_BYTES, BLOCK)
  message.set(COMMITMENT_PREFIX, BLOCK)
  return message
}

const BLOCK = 64
/** Where the name stands in a message. */
const NAME = BLOCK + COMMITMENT_PREFIX.length + 4
const MAX_NAME_BYTES = 32
const SALT_DIGITS = 44
const MAX_VIEWS = 4096
const NOTHING = new Uint8Array(0)
const NOTHING_VIEW = new DataView(NOTHING.buffer)
const SPACE = 0x20
const PAD = 0x3d
