/** Where a zstd frame ends, read off its block headers. Spec: RFC 8878 section 3.1.1. */
import { releaseBytes } from "../bytes.ts"
import type { ByteSource } from "./byte-source.ts"

/**
 * Position behind the first frame, or null when the bytes are none or the frame is cut off.
 *
 * Node's decoder continues silently with any frame that follows, in a way that depends on how the bytes were cut into
 * chunks. A pack is one stream and nothing after it, so we find the end ourselves.
 */
export const zstdFrameEnd = async (source: ByteSource): Promise<number | null> => {
  const window = new Window(source)
  const descriptor = await window.byte(4)
  if (descriptor === null) return null
  const singleSegment = (descriptor & 0x20) !== 0
  const contentSizeBytes = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!
  const checksumBytes = (descriptor & 4) !== 0 ? 4 : 0
  let at = 5 + (singleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes
  for (;;) {
    const first = await window.byte(at)
    const second = await window.byte(at + 1)
    const third = await window.byte(at + 2)
    if (first === null || second === null || third === null) return null
    const type = (first >> 1) & 3
    if (type === RESERVED) return null
    // A run-length block holds one byte, however long its content.
    at += 3 + (type === RUN_LENGTH ? 1 : (first | (second << 8) | (third << 16)) >>> 3)
    if ((first & 1) !== 0) return at + checksumBytes <= source.size ? at + checksumBytes : null
  }
}

const RUN_LENGTH = 1
const RESERVED = 3
const WINDOW_BYTES = 64 * 1024

/** Single bytes at rising positions, read in larger pieces. */
class Window {
  readonly #source: ByteSource
  #from = 0
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)

  constructor(source: ByteSource) {
    this.#source = source
  }

  async byte(at: number): Promise<number | null> {
    if (at >= this.#source.size) return null
    if (at < this.#from || at >= this.#from + this.#bytes.length) {
      // A large file is read in thousands of pieces, sooner than the collector comes.
      releaseBytes(this.#bytes)
      this.#bytes = await this.#source.read(at, WINDOW_BYTES)
      this.#from = at
    }
    return this.#bytes[at - this.#from] ?? null
  }
}
