/** The UTF-8 of many texts in few buffers. */
import { utf8 } from "@flyball/evidence"

/** Bytes of the first buffer, enough for a decision as most are, and of those after it. */
const FIRST_BYTES = 4_096
const NEXT_BYTES = 65_536
/** Longer texts get a buffer of their own. */
const LONG_TEXT = 5_000
const encoder = new TextEncoder()

/**
 * Encodes texts one behind the other: a buffer for each costs more than the bytes in it, and the garbage collector as
 * much again.
 *
 * Make one for each act and let it go with it. Nobody keeps one: what is erased later must not survive in it.
 */
export class TextBytes {
  #buffer: Uint8Array = new Uint8Array(0)
  #used = 0

  /** The bytes of a well-formed text; a view that is never written to again. */
  of(text: string): Uint8Array {
    if (text.length > LONG_TEXT) return utf8(text)
    // A unit of a text has up to three bytes.
    if (text.length * 3 > this.#buffer.length - this.#used) {
      this.#buffer = new Uint8Array(Math.max(text.length * 3, this.#buffer.length === 0 ? FIRST_BYTES : NEXT_BYTES))
      this.#used = 0
    }
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(this.#used))
    return this.#buffer.subarray(this.#used, (this.#used += written))
  }
}
