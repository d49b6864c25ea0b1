/** Commitments seen so far, packed: about 34 bytes a part. */
import type { RecordScanner } from "../record/scan.ts"
import type { PartWalk } from "./part-walk.ts"
import { eachPart } from "./part-walk.ts"

/**
 * Keeps what D and E lines at the end of a pack will ask about.
 *
 * An entry is the distance of its seq from the one before, the number of its name, and the commitment. Past `budget` bytes it forgets
 * everything and says so: whoever can read the pack twice need not remember it.
 *
 * - Unit: `budget` in bytes.
 */
export class PartLog {
  /** Parts noted, also after the log gave up. */
  count = 0
  /** Nothing is kept any more. */
  overflowed = false
  readonly #budget: number
  #blocks: Array<Uint8Array> = []
  #block: Uint8Array = new Uint8Array(0)
  #used = 0
  /** Bytes of all blocks. */
  #kept = 0
  #lastSeq = 0
  readonly #names: Array<string> = []
  readonly #numberOfName = new Map<string, number>()

  constructor(budget: number) {
    this.#budget = budget
  }

  /** Notes the parts of the record just scanned. Records come with rising seq. */
  add(bytes: Uint8Array, scanner: RecordScanner): void {
    this.count += scanner.partCount
    if (this.overflowed || scanner.partCount === 0) return
    let delta = scanner.seq - this.#lastSeq
    this.#lastSeq = scanner.seq
    eachPart(bytes, scanner, (nameStart, nameEnd, commitment) => {
      this.#room()
      this.#number(delta)
      this.#name(bytes, nameStart, nameEnd)
      this.#block.set(commitment, this.#used)
      this.#used += 32
      delta = 0
    })
  }

  /** A walk over what was noted. Several may go on at once, after the last `add`. */
  walk(): PartWalk {
    return new LogWalk([...this.#blocks.slice(0, -1), this.#block.subarray(0, this.#used)], this.#names)
  }

  #room(): void {
    if (this.#used + MAX_ENTRY_BYTES <= this.#block.length) return
    if (this.#kept >= this.#budget) {
      this.overflowed = true
      this.#blocks = []
      this.#names.length = 0
      this.#numberOfName.clear()
    }
    // An unfinished block is cut to what is used, so that a walk sees no rest.
    if (this.#blocks.length > 0) this.#blocks[this.#blocks.length - 1] = this.#block.subarray(0, this.#used)
    // Most packs are small: the first block is too, and the others double up to a size that costs nothing more.
    this.#block = new Uint8Array(Math.min(Math.max(this.#kept, FIRST_BLOCK_BYTES), BLOCK_BYTES))
    this.#kept += this.#block.length
    this.#blocks.push(this.#block)
    this.#used = 0
  }

  /** Seven bits a byte, the lowest first. */
  #number(value: number): void {
    while (value >= 0x80) {
      this.#block[this.#used++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.#block[this.#used++] = value
  }

  /** Common names have a number; when there are too many, the rest are spelt out after a zero. */
  #name(bytes: Uint8Array, start: number, end: number): void {
    let name = ""
    for (let i = start; i < end; i++) name += String.fromCharCode(bytes[i]!)
    let number = this.#numberOfName.get(name)
    if (number === undefined && this.#names.length < MAX_NUMBERED_NAMES) {
      this.#names.push(name)
      number = this.#names.length
      this.#numberOfName.set(name, number)
    }
    this.#block[this.#used++] = number ?? 0
    if (number !== undefined) return
    this.#block[this.#used++] = end - start
    this.#block.set(bytes.subarray(start, end), this.#used)
    this.#used += end - start
  }
}

const FIRST_BLOCK_BYTES = 4 * 1024
const BLOCK_BYTES = 256 * 1024
const MAX_NUMBERED_NAMES = 255
/** A number of up to 8 bytes, a name spelt out, a commitment. */
const MAX_ENTRY_BYTES = 8 + 1 + 1 + 32 + 32

class LogWalk implements PartWalk {
  seq = 0
  name = ""
  commitment: Uint8Array = new Uint8Array(32)
  readonly #blocks: ReadonlyArray<Uint8Array>
  readonly #names: ReadonlyArray<string>
  #current = 0
  #at = 0

  constructor(blocks: ReadonlyArray<Uint8Array>, names: ReadonlyArray<string>) {
    this.#blocks = blocks
    this.#names = names
  }

  advance(): boolean {
    let block = this.#blocks[this.#current]
    while (block !== undefined && this.#at >= block.length) {
      block = this.#blocks[++this.#current]
      this.#at = 0
    }
    if (block === undefined) return false
    let scale = 1
    for (let byte = block[this.#at++]!;; byte = block[this.#at++]!) {
      this.seq += (byte & 0x7f) * scale
      scale *= 0x80
      if (byte < 0x80) break
    }
    const number = block[this.#at++]!
    if (number > 0) this.name = this.#names[number - 1]!
    else {
      const length = block[this.#at++]!
      this.name = String.fromCharCode(...block.subarray(this.#at, this.#at + length))
      this.#at += length
    }
    this.commitment = block.subarray(this.#at, this.#at + 32)
    this.#at += 32
    return true
  }
}
