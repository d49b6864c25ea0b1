/**
 * Sealing in the storage worker: the same bytes as core's `sealDrafts`, made for speed.
 *
 * Everything is written into reused buffers and hashed by one-shot calls that answer text: `createHash` and
 * `createHmac` cost several
 * times as much, and a one-shot that answers a `Buffer` twice as much.
 * It imports next to nothing, so that the worker starts fast. A test proves it byte-equal. Spec: chain-format sections
 * 1 to 3.
 */
import { hash } from "node:crypto"
import type { BatchedPart } from "./batch.ts"
import { Unwritable } from "./sqlite-fault.ts"

/** Largest record, in bytes. Spec: chain-format section 1. */
export const maxRecordBytes = 65_536
/** Room for one record of the largest, or for many as they are. */
const arenaBytes = 4 * (1 + maxRecordBytes)
const block = 64
const saltBytes = 32
const saltWords = saltBytes / 4
const innerPad = 0x36363636
const outerPad = 0x5c5c5c5c
/** Names of parts are few, but nothing bounds them. */
const keptPrefixes = 256
const prefix = "flyball/v1 part\0"

/** What the inner hash of a commitment is made over. Behind the salt its first block is pad, and stays. */
class InnerBlock {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  /** By length: contents have few lengths, and making a view costs more than copying a content. */
  readonly #views: Array<Uint8Array | undefined> = new Array<Uint8Array | undefined>(4097).fill(undefined)

  constructor(length: number) {
    this.bytes = new Uint8Array(length)
    this.bytes.fill(0x36, saltBytes, block)
    this.words = new Int32Array(this.bytes.buffer, 0, saltWords)
  }

  view(length: number): Uint8Array {
    return length < this.#views.length
      ? (this.#views[length] ??= this.bytes.subarray(0, length))
      : this.bytes.subarray(0, length)
  }
}

/** Makes records and commitments. One instance per writer: its buffers are reused. */
export class Sealer {
  /** Records one behind the other, each after the 0x00 of a leaf. */
  readonly #leaves = Buffer.alloc(arenaBytes)
  #at = 0
  readonly #node = Buffer.alloc(1 + 64, 1)
  readonly #salt = new Uint8Array(saltBytes)
  readonly #saltWords = new Int32Array(this.#salt.buffer)
  readonly #outer = Buffer.alloc(block + 32, 0x5c)
  readonly #outerWords = new Int32Array(this.#outer.buffer, this.#outer.byteOffset, (block + 32) / 4)
  #inner = new InnerBlock(4096)
  /** What stands between key and content, by name of the part. */
  readonly #prefixes = new Map<string, Uint8Array>()
  #headerAtMs = -1
  #header = ""

  /** Whether another record fits behind those that are not stored yet. */
  get hasRoom(): boolean {
    return this.#at + 1 + maxRecordBytes <= arenaBytes
  }

  /** Begins at the front again: what was sealed is stored. */
  reuse(): void {
    this.#at = 0
  }

  /** Writes the leaf behind the others and answers where it is. */
  #write(atMs: number, body: Uint8Array, tail: string): Buffer {
    if (atMs !== this.#headerAtMs) {
      this.#header = `{"at":"${new Date(atMs).toISOString()}","body":`
      this.#headerAtMs = atMs
    }
    const length = this.#header.length + body.length + tail.length
    if (length > maxRecordBytes)
      throw new Unwritable(
        `Expected a record of at most ${maxRecordBytes} bytes, saw ${length}. Move large content into parts.`
      )
    const from = this.#at
    this.#leaves[from] = 0
    let at = from + 1 + this.#leaves.write(this.#header, from + 1, "latin1")
    this.#leaves.set(body, at)
    at += body.length
    this.#at = at + this.#leaves.write(tail, at, "latin1")
    return this.#leaves.subarray(from, this.#at)
  }

  /**
   * Seals one record. `bytes` is a view that stands until {@link Sealer.reuse}; ask {@link Sealer.hasRoom} first.
   * `hash` is fresh, and `hex` says it in digits.
   *
   * `commitments` are hex digits, one for each name in `names`, in order.
   */
  seal(record: {
    readonly atMs: number
    readonly body: Uint8Array
    readonly kind: string
    readonly names: ReadonlyArray<string>
    readonly commitments: ReadonlyArray<string>
    /** Hex digits. */
    readonly prev: string
    readonly seq: number
  }): { readonly bytes: Uint8Array; readonly hash: Buffer; readonly hex: string } {
    let parts = ""
    for (let index = 0; index < record.names.length; index++) {
      parts += `${index === 0 ? "" : ","}{"c":"${record.commitments[index]!}","name":"${record.names[index]!}"}`
    }
    const leaf = this.#write(
      record.atMs,
      record.body,
      `,"kind":"${record.kind}","parts":[${parts}],"prev":"${record.prev}","seq":${record.seq},"v":1}`
    )
    const hex = hash("sha256", leaf, "hex")
    const digest = Buffer.allocUnsafe(32)
    digest.write(hex, "hex")
    return { bytes: leaf.subarray(1), hash: digest, hex }
  }

  /** Hex digits of HMAC-SHA-256 with the salt as key, as two one-shot hashes with the pads made by hand. */
  commitment(name: string, part: BatchedPart): string {
    const prefix = this.#prefixOf(name)
    const contentAt = block + prefix.length
    const length = contentAt + part.bytes.length
    if (length > this.#inner.bytes.length) this.#inner = new InnerBlock(Math.max(length, this.#inner.bytes.length * 2))
    const inner = this.#inner
    const outer = this.#outer
    const outerWords = this.#outerWords
    const salt = this.#saltWords
    this.#salt.set(part.salt)
    for (let word = 0; word < saltWords; word++) {
      inner.words[word] = salt[word]! ^ innerPad
      outerWords[word] = salt[word]! ^ outerPad
    }
    inner.bytes.set(prefix, block)
    inner.bytes.set(part.bytes, contentAt)
    outer.write(hash("sha256", inner.view(length), "binary"), block, "latin1")
    const commitment = hash("sha256", outer, "hex")
    // An erased part and its salt must not survive in a buffer of ours.
    inner.bytes.fill(0, contentAt, length)
    for (let word = 0; word < saltWords; word++)
      salt[word] = inner.words[word] = outerWords[word] = outerWords[block / 4 + word] = 0
    return commitment
  }

  #prefixOf(name: string): Uint8Array {
    let made = this.#prefixes.get(name)
    if (made !== undefined) return made
    const length = Buffer.alloc(4)
    length.writeUInt32BE(name.length)
    made = Uint8Array.from(Buffer.concat([Buffer.from(prefix, "latin1"), length, Buffer.from(name, "latin1")]))
    if (this.#prefixes.size >= keptPrefixes) this.#prefixes.clear()
    this.#prefixes.set(name, made)
    return made
  }

  /** Root over 2^k hashes that lie joined in `hashes`. */
  treeRoot(hashes: Uint8Array): Uint8Array {
    const level = Buffer.from(hashes)
    for (let count = hashes.length / 32; count > 1; count /= 2) {
      for (let index = 0; index < count / 2; index++) {
        this.#node.set(level.subarray(index * 64, index * 64 + 64), 1)
        level.write(hash("sha256", this.#node, "binary"), index * 32, "latin1")
      }
    }
    return level.subarray(0, 32)
  }
}
