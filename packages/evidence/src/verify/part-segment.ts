/** The parts of some records, packed: about 34 bytes a part. */
import type { RecordScanner } from "../record/scan.ts"
import type { PartWalk } from "./part-walk.ts"

/**
 * Parts in order. An entry is the distance of its seq from the one before (at first: from 0), the number of its name,
 * and the commitment.
 */
export interface PartSegment {
  readonly count: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly names: ReadonlyArray<string>
}

/** Makes segments. */
export class PartWriter {
  count = 0
  /** Bytes written. */
  used = 0
  #bytes = new Uint8Array(FIRST_BYTES)
  #lastSeq = 0
  #names: Array<string> = []
  #numberOfName = new Map<string, number>()
  /** Numbers of the names of the record before, by place: neighbours mostly have the same. */
  readonly #usual: Array<number> = []

  /** Notes the parts of the record just scanned in `bytes`. Records come with rising seq. */
  add(bytes: Uint8Array, scanner: Pick<RecordScanner, "partList" | "seq">): void {
    const { commitments, count, names } = scanner.partList
    if (count === 0) return
    this.#room(count * MAX_ENTRY_BYTES)
    let delta = scanner.seq - this.#lastSeq
    this.#lastSeq = scanner.seq
    for (let i = 0; i < count; i++) {
      this.#number(delta)
      this.#name(bytes, names[2 * i]!, names[2 * i + 1]!, i)
      // A loop over locals, since a call of `set` and a view cost more than 32 bytes do.
      const [out, to, from] = [this.#bytes, this.used, 32 * i]
      for (let j = 0; j < 32; j++) out[to + j] = commitments[from + j]!
      this.used = to + 32
      delta = 0
    }
    this.count += count
  }

  /** What was written since the last call. */
  take(): PartSegment {
    const segment = { count: this.count, bytes: this.#bytes.slice(0, this.used), names: this.#names }
    this.count = 0
    this.used = 0
    this.#lastSeq = 0
    if (this.#names.length > 0) {
      this.#names = []
      this.#numberOfName = new Map()
      this.#usual.length = 0
    }
    return segment
  }

  #room(bytes: number): void {
    if (this.used + bytes <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.used + bytes, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.used))
    this.#bytes = grown
  }

  /** Seven bits a byte, the lowest first. */
  #number(value: number): void {
    while (value >= 0x80) {
      this.#bytes[this.used++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.#bytes[this.used++] = value
  }

  /** Common names have a number; when there are too many, the rest are spelt out after a zero. */
  #name(bytes: Uint8Array, start: number, end: number, place: number): void {
    const usual = this.#usual[place]
    const number =
      usual !== undefined && isName(this.#names[usual - 1]!, bytes, start, end)
        ? usual
        : this.#find(bytes, start, end, place)
    this.#bytes[this.used++] = number ?? 0
    if (number !== undefined) return
    this.#bytes[this.used++] = end - start
    this.#bytes.set(bytes.subarray(start, end), this.used)
    this.used += end - start
  }

  #find(bytes: Uint8Array, start: number, end: number, place: number): number | undefined {
    let name = ""
    for (let i = start; i < end; i++) name += String.fromCharCode(bytes[i]!)
    let number = this.#numberOfName.get(name)
    if (number === undefined && this.#names.length < MAX_NUMBERED_NAMES) {
      this.#names.push(name)
      number = this.#names.length
      this.#numberOfName.set(name, number)
    }
    if (number !== undefined && place <= this.#usual.length) this.#usual[place] = number
    return number
  }
}

const isName = (name: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (name.length !== end - start) return false
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

const FIRST_BYTES = 4 * 1024
const MAX_NUMBERED_NAMES = 255
/** A number of up to 8 bytes, a name spelt out, a commitment. */
const MAX_ENTRY_BYTES = 8 + 1 + 1 + 32 + 32

/** Walks over segments, one after another. */
export class SegmentWalk implements PartWalk {
  seq = 0
  name = ""
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  readonly #segments: ReadonlyArray<PartSegment>
  #current = 0
  #at = 0

  constructor(segments: ReadonlyArray<PartSegment>) {
    this.#segments = segments
  }

  advance(): boolean {
    let segment = this.#segments[this.#current]
    while (segment !== undefined && this.#at >= segment.bytes.length) {
      segment = this.#segments[++this.#current]
      this.#at = 0
      this.seq = 0
    }
    if (segment === undefined) return false
    const { bytes, names } = segment
    let scale = 1
    for (let byte = bytes[this.#at++]!; ; byte = bytes[this.#at++]!) {
      this.seq += (byte & 0x7f) * scale
      scale *= 0x80
      if (byte < 0x80) break
    }
    const number = bytes[this.#at++]!
    if (number > 0) this.name = names[number - 1]!
    else {
      const length = bytes[this.#at++]!
      this.name = String.fromCharCode(...bytes.subarray(this.#at, this.#at + length))
      this.#at += length
    }
    this.bytes = bytes
    this.at = this.#at
    this.#at += 32
    return true
  }
}
