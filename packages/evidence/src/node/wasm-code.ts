/**
 * As much of WebAssembly's binary form as `sha256-lanes.ts` and `record-code.ts` need. Spec: WebAssembly 2.0, chapter
 * 5.
 */

/** Bytes of a piece of a program, made of pieces: put together once, at the end. */
export type Code = ReadonlyArray<number | Code>

/** An unsigned number as LEB128. */
export const unsigned = (value: number): Code =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, unsigned(value >>> 7)]

const signed = (value: number): Code =>
  value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, signed(value >> 7)]

/** Pushes a local. */
export const get = (local: number): Code => [0x20, unsigned(local)]
/** Pops into a local. */
export const set = (local: number): Code => [0x21, unsigned(local)]
/** Pushes a number of 32 bits. */
export const i32 = (value: number): Code => [0x41, signed(value)]
export const addI32: Code = [0x6a]
/** Calls a function by its place in the module. */
export const call = (place: number): Code => [0x10, unsigned(place)]
/** Sets a local and leaves its value on the stack. */
export const tee = (local: number): Code => [0x22, unsigned(local)]
/** Pushes a number of 64 bits. */
export const i64 = (value: number): Code => [0x42, signed(value)]
/** What these do is what they are called; all take 32-bit numbers unless they say otherwise. */
export const isZero: Code = [0x45]
export const equal: Code = [0x46]
export const differ: Code = [0x47]
export const below: Code = [0x49]
export const above: Code = [0x4b]
export const lessSigned: Code = [0x48]
export const subtract: Code = [0x6b]
export const multiply: Code = [0x6c]
export const both: Code = [0x71]
export const either: Code = [0x72]
/** The number of the lowest bit that is set. */
export const lowestBit: Code = [0x68]
export const differ64: Code = [0x52]
export const add64: Code = [0x7c]
export const multiply64: Code = [0x7e]
export const widen: Code = [0xad]
/** Memory at an address from the stack plus `offset`; nothing need be aligned. */
export const load8 = (offset = 0): Code => [0x2d, 0, unsigned(offset)]
export const load16 = (offset = 0): Code => [0x2f, 1, unsigned(offset)]
export const load32 = (offset = 0): Code => [0x28, 2, unsigned(offset)]
export const load64 = (offset = 0): Code => [0x29, 3, unsigned(offset)]
export const store32 = (offset = 0): Code => [0x36, 2, unsigned(offset)]
export const store64 = (offset = 0): Code => [0x37, 3, unsigned(offset)]
/** Copies bytes: takes where to, where from, how many. */
export const copyBytes: Code = [0xfc, 10, 0, 0]
/** Ends the function, with what is on the stack. */
export const leave: Code = [0x0f]
/** Does `body` if the condition holds. */
export const when = (condition: Code, ...body: ReadonlyArray<Code>): Code => [condition, 0x04, 0x40, body, 0x0b]
/** Does `body` once, and once more whenever it comes to an `again`. */
export const loop = (...body: ReadonlyArray<Code>): Code => [0x03, 0x40, body, 0x0b]
/** To the beginning of the loop around it; `levels`: how many `when` or `loop` lie between. */
export const again = (levels: number): Code => [0x0c, unsigned(levels)]
/** Does `body` again and again while the local, one less each time, is not zero. */
export const countDown = (local: number, body: Code): Code => [
  0x03,
  0x40,
  body,
  get(local),
  i32(-1),
  addI32,
  0x22,
  unsigned(local),
  0x0d,
  0,
  0x0b
]

const vector = (opcode: number): Code => [0xfd, unsigned(opcode)]
const VECTOR_ALIGNMENT = 4
const WORD_ALIGNMENT = 2

/** Loads and stores of 128 bits, at an address from the stack plus `offset`. */
export const load = (offset: number): Code => [vector(0), VECTOR_ALIGNMENT, unsigned(offset)]
export const store = (offset: number): Code => [vector(11), VECTOR_ALIGNMENT, unsigned(offset)]
/** One word of memory in all four lanes. */
export const loadSplat = (offset: number): Code => [vector(9), WORD_ALIGNMENT, unsigned(offset)]
/** One word between memory and one lane. */
export const loadLane = (offset: number, lane: number): Code => [vector(0x56), WORD_ALIGNMENT, unsigned(offset), lane]
export const storeLane = (offset: number, lane: number): Code => [vector(0x5a), WORD_ALIGNMENT, unsigned(offset), lane]
/** One word, four times, as a constant. */
export const splat = (word: number): Code => {
  const bytes = [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24]
  return [vector(12), bytes, bytes, bytes, bytes]
}
export const and: Code = vector(78)
export const or: Code = vector(80)
export const xor: Code = vector(81)
export const add: Code = vector(174)
export const shiftLeft = (bits: number): Code => [i32(bits), vector(171)]
export const shiftRight = (bits: number): Code => [i32(bits), vector(173)]
/** Sixteen bytes as a constant. */
export const bytes16 = (bytes: ReadonlyArray<number>): Code => [vector(12), bytes]
/** One byte, sixteen times, as a constant. */
export const splat8 = (byte: number): Code => bytes16(new Array<number>(16).fill(byte))
export const equal8 = vector(35)
export const lessSigned8 = vector(37)
export const less8 = vector(38)
/** 1 when no byte is zero. */
export const allTrue8 = vector(99)
/** The high bits of the sixteen bytes as one number. */
export const highBits8 = vector(100)
/** 1 when some bit is set. */
export const anyBit = vector(83)
export const shiftRight8 = (bits: number): Code => [i32(bits), vector(109)]
export const subtract8 = vector(113)
/** The bytes of a first vector that a second one numbers. */
export const pick8 = vector(14)
/** Sixteen bytes out of two vectors, by their numbers. */
export const shuffle8 = (places: ReadonlyArray<number>): Code => [vector(13), places]
/** Turns the bytes of each lane round, by a local that it may write to. */
export const swapBytes = (local: number): Code => [
  set(local),
  get(local),
  get(local),
  vector(13),
  3,
  2,
  1,
  0,
  7,
  6,
  5,
  4,
  11,
  10,
  9,
  8,
  15,
  14,
  13,
  12
]

/**
 * A function of the module: how many 32-bit parameters it takes, its locals behind them in this order, whether it
 * answers a 32-bit number, what it does.
 */
export interface WasmFunction {
  readonly parameters: number
  readonly numbers?: number
  readonly longs?: number
  readonly vectors?: number
  readonly answers?: boolean
  readonly code: Code
  /** The name it can be called by from outside. */
  readonly name?: string
}

/** A module of some functions and its own memory, exported as `memory`; it begins with `data`. */
export const moduleOf = (
  functions: ReadonlyArray<WasmFunction>,
  pages: number,
  data: ReadonlyArray<number>
): Uint8Array<ArrayBuffer> => {
  const many = (items: ReadonlyArray<Code | number>): Code => [unsigned(items.length), items]
  const sized = (content: Code): Code => {
    const bytes = flat(content, [])
    return [unsigned(bytes.length), bytes]
  }
  const text = (letters: string): Code => many([...letters].map((letter) => letter.charCodeAt(0)))
  const [I32, I64, V128, FUNCTION, MEMORY, END] = [0x7f, 0x7e, 0x7b, 0, 2, 0x0b]
  const type = ({ answers = false, parameters }: WasmFunction): Code => [
    0x60,
    many(new Array<number>(parameters).fill(I32)),
    many(answers ? [I32] : [])
  ]
  const locals = ({ longs = 0, numbers = 0, vectors = 0 }: WasmFunction): Code =>
    many([
      [unsigned(numbers), I32],
      [unsigned(longs), I64],
      [unsigned(vectors), V128]
    ])
  const exported = functions.flatMap(({ name }, place) =>
    name === undefined ? [] : [[text(name), FUNCTION, unsigned(place)]]
  )
  return Uint8Array.from(
    flat(
      [
        0x00,
        0x61,
        0x73,
        0x6d,
        1,
        0,
        0,
        0,
        1,
        sized(many(functions.map(type))),
        3,
        sized(many(functions.map((_, place) => unsigned(place)))),
        5,
        sized(many([[0, unsigned(pages)]])),
        7,
        sized(many([[text("memory"), MEMORY, 0], ...exported])),
        10,
        sized(many(functions.map((one) => sized([locals(one), one.code, END])))),
        11,
        sized(many([[0, i32(0), END, many(data)]]))
      ],
      []
    )
  )
}

const flat = (code: Code, out: Array<number>): Array<number> => {
  for (const piece of code) {
    if (typeof piece === "number") out.push(piece)
    else flat(piece, out)
  }
  return out
}
