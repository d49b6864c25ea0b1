/** The latest public keys that records name, each once, in memory of fixed size: a chain may name millions. */
import { equalBytes } from "../../bytes.ts"

/** Keys kept. Each costs a signature check for every line that names it. */
export const MAX_LATEST = 256
const KEY_BYTES = 32

/** Keys in the order of their last occurrence. */
export class LatestKeys {
  readonly #bytes = new Uint8Array(KEY_BYTES * MAX_LATEST)
  #count = 0

  /** Adds a key as the latest. Returns whether another key was dropped for it. */
  add(publicKey: Uint8Array): boolean {
    const before = this.#indexOf(publicKey)
    const isFull = before < 0 && this.#count === MAX_LATEST
    if (before >= 0 || isFull) this.#remove(Math.max(before, 0))
    this.#bytes.set(publicKey, KEY_BYTES * this.#count++)
    return isFull
  }

  /** The keys, the latest last. */
  all(): ReadonlyArray<Uint8Array> {
    return Array.from({ length: this.#count }, (_, i) => this.#bytes.slice(KEY_BYTES * i, KEY_BYTES * (i + 1)))
  }

  #indexOf(publicKey: Uint8Array): number {
    const bytes = this.#bytes
    for (let i = 0; i < this.#count; i++) {
      const at = KEY_BYTES * i
      if (
        bytes[at] === publicKey[0] &&
        bytes[at + 1] === publicKey[1] &&
        equalBytes(bytes.subarray(at, at + KEY_BYTES), publicKey)
      )
        return i
    }
    return -1
  }

  #remove(index: number): void {
    this.#bytes.copyWithin(KEY_BYTES * index, KEY_BYTES * (index + 1), KEY_BYTES * this.#count--)
  }
}
