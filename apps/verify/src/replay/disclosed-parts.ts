/** Reads the disclosed parts of a pack a second time: they come after all records, in the same order. */
import { fromBase64, LineReader, MAX_LINE_BYTES } from "@flyball/evidence"
import { KnownNames } from "./known-names.ts"

/** A place among parts: by record, then by name. Names are ASCII. */
export interface PartPlace {
  readonly seq: number
  readonly name: string
}

/**
 * Steps through the D lines of a pack whose lines were all checked before.
 *
 * Memory holds one chunk and at most one line.
 */
export class DisclosedParts {
  /** The part at hand; `seq` is infinite behind the last one. */
  seq = -1
  name = ""
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #reader = new LineReader(null, MAX_LINE_BYTES)
  readonly #names = new KnownNames()
  /** Index of the salt in the line at hand. */
  #salt = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /**
   * Moves to a place or the first one behind it; answers whether the part is disclosed. A promise only where more must
   * be read.
   */
  seek(place: PartPlace): boolean | Promise<boolean> {
    while (this.#isBefore(place)) if (!this.#next()) return this.#readOn(place)
    return this.#isAt(place)
  }

  /** The bytes of the part at hand, as an array of their own. */
  bytes(): Uint8Array {
    const { bytes, end } = this.#reader
    const part = fromBase64(latin1.decode(bytes.subarray(this.#salt + SALT_DIGITS + 1, end)))
    // The first reading took the line apart in the same way.
    if (part === null) throw new Error("A part that was read before could not be read again.")
    return part
  }

  /** How many bytes the part at hand has, without making them. */
  size(): number {
    const { bytes, end } = this.#reader
    const digits = end - (this.#salt + SALT_DIGITS + 1)
    const padding = digits === 0 || bytes[end - 1] !== PADDING ? 0 : bytes[end - 2] === PADDING ? 2 : 1
    return (digits / 4) * 3 - padding
  }

  /** Lets go of the pack. */
  async end(): Promise<void> {
    await this.#chunks.return?.()
  }

  #isBefore({ name, seq }: PartPlace): boolean {
    return this.seq < seq || (this.seq === seq && this.name < name)
  }

  #isAt({ name, seq }: PartPlace): boolean {
    return this.seq === seq && this.name === name
  }

  async #readOn(place: PartPlace): Promise<boolean> {
    while (this.#isBefore(place)) {
      const chunk = await this.#chunks.next()
      if (chunk.done === true) {
        this.seq = Number.POSITIVE_INFINITY
        break
      }
      this.#reader.feed(chunk.value)
      while (this.#isBefore(place) && this.#next());
    }
    return this.#isAt(place)
  }

  /** The next D line of the chunk; false when it has no more. */
  #next(): boolean {
    const reader = this.#reader
    while (reader.next()) {
      const tag = reader.bytes[reader.start]
      if (tag === DISCLOSED) {
        this.#readHead(reader.bytes, reader.start + 2)
        return true
      }
      if (tag === ERASED || tag === LAST) {
        this.seq = Number.POSITIVE_INFINITY
        return true
      }
    }
    return false
  }

  #readHead(bytes: Uint8Array, start: number): void {
    let at = start
    let seq = 0
    for (; bytes[at] !== SPACE; at++) seq = seq * 10 + bytes[at]! - ZERO
    const name = at + 1
    const end = bytes.indexOf(SPACE, name)
    this.seq = seq
    this.name = this.#names.at(bytes, name, end)
    this.#salt = end + 1
  }
}

const latin1 = new TextDecoder("latin1")
const SALT_DIGITS = 44
const SPACE = 0x20
const PADDING = 0x3d
const ZERO = 0x30
const DISCLOSED = 0x44
const ERASED = 0x45
const LAST = 0x5a
