/**
 * Values written one after another into one buffer, and read back in the same order.
 *
 * What crosses to the storage worker travels as one transferred buffer: a message of objects costs the host's thread
 * several times as much.
 * Both ends are the same version of this file, so there are no tags and no lengths that could be left out.
 */

const leastCapacity = 4096
/** Units of a text that are written one by one: the call that writes a long one costs as much as so many. */
const shortText = 48

/** False at the first unit that is not ASCII; what was written before it is written over. */
const writeAscii = (to: Uint8Array, text: string, at: number): boolean => {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) return false
    to[at + index] = unit
  }
  return true
}

/**
 * A buffer that is written into again and again, with the view that numbers are written through: making one costs more
 * than writing a text.
 */
export class Scratch {
  readonly buffer: Buffer<ArrayBuffer>
  readonly view: DataView<ArrayBuffer>

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes)
    this.view = viewOf(this.buffer)
  }
}

const viewOf = ({ buffer, byteLength, byteOffset }: Buffer<ArrayBuffer>): DataView<ArrayBuffer> =>
  new DataView(buffer, byteOffset, byteLength)

/** Writes values into one growing buffer of its own. */
export class PackWriter {
  #buffer: Buffer<ArrayBuffer>
  /** Of the same bytes: numbers through it cost a fraction of what they cost through a `Buffer`. */
  #view: DataView<ArrayBuffer>
  #at = 0

  /** A good guess of the size spares the copies of growing. With `scratch` it writes there as long as that has room. */
  constructor(expectedBytes: number, scratch: Scratch | null = null) {
    const fits = scratch !== null && scratch.buffer.length >= expectedBytes
    this.#buffer = fits ? scratch.buffer : Buffer.allocUnsafeSlow(Math.max(leastCapacity, expectedBytes))
    this.#view = fits ? scratch.view : viewOf(this.#buffer)
  }

  /** Makes room for `length` more bytes and answers where they start. */
  #reserve(length: number): number {
    const at = this.#at
    if (at + length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, at + length))
      this.#buffer.copy(grown, 0, 0, at)
      // Nobody else would wipe it: a salt or a name that is erased later must not survive there.
      this.#buffer.fill(0, 0, at)
      this.#buffer = grown
      this.#view = viewOf(grown)
    }
    this.#at = at + length
    return at
  }

  /** Leaves bytes free. */
  skip(length: number): void {
    this.#reserve(length)
  }

  u8(value: number): void {
    const at = this.#reserve(1)
    this.#buffer[at] = value
  }

  u32(value: number): void {
    const at = this.#reserve(4)
    this.#view.setUint32(at, value, true)
  }

  /** A whole number up to 2^53 - 1, or any other double. */
  f64(value: number): void {
    const at = this.#reserve(8)
    this.#view.setFloat64(at, value, true)
  }

  /** Text as its length and its UTF-8. */
  text(value: string): void {
    const at = this.#reserve(4 + value.length * 3)
    const length =
      value.length <= shortText && writeAscii(this.#buffer, value, at + 4)
        ? value.length
        : this.#buffer.write(value, at + 4, "utf8")
    this.#view.setUint32(at, length, true)
    this.#at = at + 4 + length
  }

  /** Bytes with their length. */
  bytes(value: Uint8Array): void {
    this.u32(value.length)
    this.raw(value)
  }

  /** Bytes whose length the reader knows. */
  raw(value: Uint8Array): void {
    const at = this.#reserve(value.length)
    this.#buffer.set(value, at)
  }

  /** 32 bytes given as 64 hex digits. */
  hex32(value: string): void {
    const at = this.#reserve(32)
    this.#buffer.write(value, at, 32, "hex")
  }

  /** Returns the bytes written, at the front of a buffer that can be transferred. The writer is used up. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#at)
  }
}

/** Reads values in the order they were written. */
export class PackReader {
  readonly #buffer: Buffer<ArrayBuffer>
  readonly #view: DataView<ArrayBuffer>
  #at = 0

  constructor(packed: ArrayBuffer) {
    this.#buffer = Buffer.from(packed)
    this.#view = viewOf(this.#buffer)
  }

  u8(): number {
    return this.#buffer[this.#at++]!
  }

  u32(): number {
    const value = this.#view.getUint32(this.#at, true)
    this.#at += 4
    return value
  }

  f64(): number {
    const value = this.#view.getFloat64(this.#at, true)
    this.#at += 8
    return value
  }

  text(): string {
    const length = this.u32()
    const from = this.#at
    this.#at += length
    return this.#buffer.toString("utf8", from, this.#at)
  }

  bytes(): Uint8Array {
    return this.raw(this.u32())
  }

  /** A view, not a copy. */
  raw(length: number): Uint8Array {
    const view = new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + this.#at, length)
    this.#at += length
    return view
  }

  hex32(): string {
    const from = this.#at
    this.#at += 32
    return this.#buffer.toString("hex", from, this.#at)
  }
}
