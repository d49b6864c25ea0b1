/** Cuts a stream of chunks into lines, with the digest of what was read. */
import type { Crypto, Hasher } from "../crypto.ts"

/**
 * Reads lines from chunks of any size, in memory bounded by the longest line allowed.
 *
 * A line is a view into the caller's chunk where it can be, and a copy only where it crosses a border, so a chunk may
 * be used again
 * once `next` has returned false. The digest covers whole chunks of lines at once; one call a line would cost more than
 * the hashing.
 *
 *     reader.feed(chunk)
 *     while (reader.next()) use(reader.bytes, reader.start, reader.end)
 */
export class LineReader {
  /** Holds the current line at [start, end), its newline at `end`. */
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  /** Number of the current line, from 1. */
  line = 0
  /** A line passed `limit`; reading cannot continue. */
  tooLong = false
  /** Bytes that a line may have, its newline not counted. */
  limit: number

  #digest: Hasher | null
  #chunk: Uint8Array = this.bytes
  #at = 0
  /** Bytes of the chunk before this are in the digest. */
  #digested = 0
  /** The beginning of a line whose end has not arrived. */
  #carry = new Uint8Array(INITIAL_CARRY)
  #carried = 0
  /** A line out of the carry is current, and not in the digest yet. */
  #joined = 0

  /** Without a `crypto` there is no digest: for a second reading of bytes that were checked. */
  constructor(crypto: Crypto | null, limit: number) {
    this.#digest = crypto === null ? null : crypto.hasher()
    this.limit = limit
  }

  /** Takes the next chunk. Every line of the one before must have been read. */
  feed(chunk: Uint8Array): void {
    // A Buffer's subarray is slower than a plain array's, and nothing here may depend on Node.
    this.#chunk =
      chunk.constructor === Uint8Array ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#at = 0
    this.#digested = 0
  }

  /** Moves to the next line; false when the chunk holds no further whole line, or `tooLong`. */
  next(): boolean {
    this.#digestJoined()
    const chunk = this.#chunk
    const newline = chunk.indexOf(NEWLINE, this.#at)
    if (newline < 0) {
      this.#digestTo(this.#at)
      this.#carryTo(chunk.length)
      return false
    }
    if (this.#carried + newline - this.#at > this.limit) {
      this.tooLong = true
      return false
    }
    if (this.#carried === 0) {
      this.bytes = chunk
      this.start = this.#at
      this.end = newline
      this.#at = newline + 1
    } else {
      this.#carryTo(newline + 1)
      this.#digested = newline + 1
      this.#joined = this.#carried
      this.bytes = this.#carry
      this.start = 0
      this.end = this.#carried - 1
      this.#carried = 0
    }
    this.line++
    return true
  }

  /** True while no newline ended the last bytes. */
  get unfinished(): boolean {
    return this.#carried > 0
  }

  /** SHA-256 of every byte before the current line. Ends the digest. */
  digestBefore(): Uint8Array {
    // For a line out of the carry this adds nothing: it is the first of its chunk, and everything before it is in.
    this.#digestTo(this.start)
    const digest = this.#digest!.digest()
    // What follows is not part of what the digest names.
    this.#digest = null
    return digest
  }

  #digestTo(end: number): void {
    if (this.#digest !== null && end > this.#digested) this.#digest.update(this.#chunk.subarray(this.#digested, end))
    this.#digested = Math.max(this.#digested, end)
  }

  #digestJoined(): void {
    if (this.#joined === 0) return
    this.#digest?.update(this.#carry.subarray(0, this.#joined))
    this.#joined = 0
  }

  #carryTo(end: number): void {
    const length = end - this.#at
    const needed = this.#carried + length
    if (needed > this.limit + 1) {
      this.tooLong = true
      return
    }
    if (needed > this.#carry.length) {
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#carry.length * 2), this.limit + 1))
      grown.set(this.#carry.subarray(0, this.#carried))
      this.#carry = grown
    }
    this.#carry.set(this.#chunk.subarray(this.#at, end), this.#carried)
    this.#carried = needed
    this.#at = end
  }
}

const NEWLINE = 0x0a
const INITIAL_CARRY = 64 * 1024
