/** Steps through the lines of a pack in the order that format 1 allows. Spec: format 1 section 5. */
import type { Crypto } from "../crypto.ts"
import type { PackKind } from "../pack/format.ts"
import { MAX_FIRST_LINE_BYTES, MAX_HINTS, MAX_LINE_BYTES, MAX_TOKENS, PACK_FORMAT } from "../pack/format.ts"
import { LineReader } from "../pack/line-reader.ts"
import { tagsAfter } from "../pack/order.ts"
import { FIRST_BYTES, otherFile } from "../pack/other-file.ts"
import { fieldsOf } from "./checks/fields.ts"
import { Unreadable } from "../pack/unreadable.ts"

/** Bytes in chunks of any size. A chunk may be reused after the next one is requested. */
export type PackChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** `tag` of the first line, which has no tag of its own. */
export const FIRST_LINE = "^"
/** `tag` behind the N line, when the bytes are over. */
export const END = "$"

/**
 * A cursor over the lines of one pack. Call `next`, then read the current line.
 *
 * `next` throws `Unreadable` for a line that may not stand where it stands, for a line that is too long, and for bytes
 * that
 * end before the N line. Memory is bounded by the longest line that the format allows.
 */
export class PackCursor {
  /** Tag of the current line. Empty before the first line. */
  tag = ""
  /** Lines in a row with this tag, the current line included. */
  repeats = 0
  /** Set from the H line. It decides which lines may follow. */
  kind: PackKind = "full"
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  readonly #reader: LineReader
  readonly #onChunk: (bytes: number) => void
  readonly #first = new Uint8Array(FIRST_BYTES)
  #bytesRead = 0
  #chunkBytes = 0
  /** The cursor is before the next line. A fault then belongs to the line that is missing. */
  #isBetweenLines = true

  /** `onChunk` receives the number of bytes read, after the last line of each chunk was checked. */
  constructor(crypto: Crypto, chunks: PackChunks, onChunk: (bytes: number) => void = () => undefined) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
    this.#reader = new LineReader(crypto, MAX_FIRST_LINE_BYTES)
    this.#onChunk = onChunk
  }

  /** The current line has this tag. */
  at(tag: string): boolean {
    return this.tag === tag
  }

  /** The bytes that hold the current line. Valid until `next`. */
  get bytes(): Uint8Array {
    return this.#reader.bytes
  }

  /** Index of the first byte behind the tag and its space. */
  get start(): number {
    return this.tag === FIRST_LINE ? this.#reader.start : this.#reader.start + 2
  }

  /** Index behind the last byte of the line. */
  get end(): number {
    return this.#reader.end
  }

  /** Number of the current line, from 1. */
  get line(): number {
    return this.#reader.line
  }

  /** Number of the line that a fault belongs to. */
  get faultLine(): number {
    return this.#isBetweenLines ? this.#reader.line + 1 : this.#reader.line
  }

  /** The fields of the current line, split at single spaces. */
  fields(): ReadonlyArray<string> {
    return fieldsOf(this.bytes, this.start, this.end)
  }

  /** The fault of a file that is no pack: it names what the file is, where its first bytes show it. */
  notPack(found: string): Unreadable {
    return new Unreadable("E_FORMAT", `a first line that starts with ${PACK_FORMAT}`, this.#otherFile ?? found)
  }

  /** Moves to the next line, or to `END`. Returns a promise only when a new chunk is needed. */
  next(): void | Promise<void> {
    this.#isBetweenLines = true
    if (!this.#reader.next()) return this.#nextChunk()
    this.#enter()
  }

  /** SHA-256 of all bytes before the current line. Ends the digest, so it can be read once. */
  digestBefore(): Uint8Array {
    return this.#reader.digestBefore()
  }

  /** Releases the chunks. Call it in every case. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  get #otherFile(): string | null {
    return otherFile(this.#first.subarray(0, this.#bytesRead))
  }

  async #nextChunk(): Promise<void> {
    for (;;) {
      if (this.#reader.tooLong) throw this.#tooLong()
      if (this.#chunkBytes > 0) this.#onChunk(this.#bytesRead)
      const chunk = await this.#chunks.next()
      if (chunk.done === true) return this.#finish()
      this.#chunkBytes = chunk.value.length
      if (this.#bytesRead < FIRST_BYTES)
        this.#first.set(chunk.value.subarray(0, FIRST_BYTES - this.#bytesRead), this.#bytesRead)
      this.#bytesRead += chunk.value.length
      this.#reader.feed(chunk.value)
      if (this.#reader.next()) return this.#enter()
    }
  }

  #finish(): void {
    if (this.tag === "" && this.#otherFile !== null) throw this.notPack(this.#otherFile)
    if (this.#reader.unfinished) {
      throw new Unreadable("E_FORMAT", "a newline at the end of every line", "a last line without one")
    }
    if (this.tag !== "N") throw new Unreadable("E_FORMAT", this.#wanted(), "the end of the file")
    this.tag = END
  }

  /** Reads the tag of the line and checks that it may stand here. */
  #enter(): void {
    this.#isBetweenLines = false
    const { bytes, end, start } = this.#reader
    if (this.tag === "") {
      this.tag = FIRST_LINE
      this.#reader.limit = MAX_LINE_BYTES
      return
    }
    const tag = String.fromCharCode(bytes[start] ?? 0)
    // X has no payload when its proof is empty. Every other line has one, behind a single space.
    const hasPayload = bytes[start + 1] === SPACE && end > start + 2
    if (end === start || !(hasPayload || (tag === "X" && end === start + 1))) {
      throw new Unreadable("E_FORMAT", `${this.#wanted()}, a space and a payload`, "a line of another form")
    }
    if (!this.#mayFollow().includes(tag)) {
      throw new Unreadable(
        "E_FORMAT",
        this.#wanted(),
        `a line of another sort (${/[A-Z]/.test(tag) ? tag : "unknown"})`
      )
    }
    this.repeats = this.tag === tag ? this.repeats + 1 : 1
    this.tag = tag
    if (tag === "K" && this.repeats > MAX_HINTS) throw new Unreadable("E_LIMIT", `at most ${MAX_HINTS} K lines`, "more")
    if (tag === "W" && this.repeats > MAX_TOKENS)
      throw new Unreadable("E_LIMIT", `at most ${MAX_TOKENS} W lines`, "more")
  }

  #mayFollow(): string {
    return this.tag === FIRST_LINE ? "H" : tagsAfter(this.kind, this.tag)
  }

  #wanted(): string {
    if (this.tag === "") return `a first line that starts with ${PACK_FORMAT}`
    const tags = [...this.#mayFollow()]
    return tags.length === 0 ? "nothing after the N line" : `a line ${tags.join(" or ")}`
  }

  #tooLong(): Unreadable {
    if (this.tag !== "") return new Unreadable("E_LIMIT", `a line of at most ${MAX_LINE_BYTES} bytes`, "a longer one")
    return this.notPack("a longer line: this is not an evidence pack")
  }
}

const SPACE = 0x20
