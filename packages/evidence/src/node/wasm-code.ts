/** As much of WebAssembly's binary form as `sha256-lanes.ts` needs. Spec: WebAssembly 2.0, chapter 5. */

/** Bytes of a piece of a program. */
export type Code = ReadonlyArray<number>

/** An unsigned number as LEB128. */
export const unsigned = (value: number): Code => value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]

const signed = (value: number): Code => value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]

/** Pushes a local. */
export const get = (local: number): Code => [0x20, ...unsigned(local)]
/** Pops into a local. */
export const set = (local: number): Code => [0x21, ...unsigned(local)]
/** Pushes a number of 32 bits. */
export const i32 = (value: number): Code => [0x41, ...signed(value)]
export const addI32: Code = [0x6a]
/** Calls a function by its place in the module. */
export const call = (place: number): Code => [0x10, ...unsigned(place)]
/** Does `body` again and again while the local, one less each time, is not zero. */
export const countDown = (local: number, body: Code): Code => [0x03, 0x40, ...body, ...get(local), ...i32(-1), ...addI32, 0x22, ...unsigned(local), 0x0d, 0, 0x0b]

const vector = (opcode: number): Code => [0xfd, ...unsigned(opcode)]
const VECTOR_ALIGNMENT = 4
const WORD_ALIGNMENT = 2

/** Loads and stores of 128 bits, at an address from the stack plus `offset`. */
export const load = (offset: number): Code => [...vector(0), VECTOR_ALIGNMENT, ...unsigned(offset)]
export const store = (offset: number): Code => [...vector(11), VECTOR_ALIGNMENT, ...unsigned(offset)]
/** One word of memory in all four lanes. */
export const loadSplat = (offset: number): Code => [...vector(9), WORD_ALIGNMENT, ...unsigned(offset)]
/** One word between memory and one lane. */
export const loadLane = (offset: number, lane: number): Code => [...vector(0x56), WORD_ALIGNMENT, ...unsigned(offset), lane]
export const storeLane = (offset: number, lane: number): Code => [...vector(0x5a), WORD_ALIGNMENT, ...unsigned(offset), lane]
/** One word, four times, as a constant. */
export const splat = (word: number): Code => {
  const bytes = [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24]
  return [...vector(12), ...bytes, ...bytes, ...bytes, ...bytes]
}
export const and: Code = vector(78)
export const or: Code = vector(80)
export const xor: Code = vector(81)
export const add: Code = vector(174)
export const shiftLeft = (bits: number): Code => [...i32(bits), ...vector(171)]
export const shiftRight = (bits: number): Code => [...i32(bits), ...vector(173)]
/** Turns the bytes of each lane round, by a local that it may write to. */
export const swapBytes = (local: number): Code => [...set(local), ...get(local), ...get(local), ...vector(13), 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]

/** A function of the module: how many 32-bit parameters it takes, how many 128-bit locals follow them, what it does. */
export interface WasmFunction {
  readonly parameters: number
  readonly vectors: number
  readonly code: Code
}

/** A module of some functions and its own memory, exported as `memory`; the last function is exported as `run`. */
export const moduleOf = (functions: ReadonlyArray<WasmFunction>, pages: number): Uint8Array<ArrayBuffer> => {
  const many = (items: ReadonlyArray<Code>): Code => [...unsigned(items.length), ...items.flat()]
  const sized = (content: Code): Code => [...unsigned(content.length), ...content]
  const name = (text: string): Code => many([...text].map((letter) => [letter.charCodeAt(0)]))
  const [I32, V128, FUNCTION, MEMORY, END] = [0x7f, 0x7b, 0, 2, 0x0b]
  return Uint8Array.from([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    1, ...sized(many(functions.map(({ parameters }) => [0x60, ...many(new Array(parameters).fill([I32])), 0]))),
    3, ...sized(many(functions.map((_, place) => unsigned(place)))),
    5, ...sized(many([[0, ...unsigned(pages)]])),
    7, ...sized(many([[...name("memory"), MEMORY, 0], [...name("run"), FUNCTION, ...unsigned(functions.length - 1)]])),
    10, ...sized(many(functions.map(({ code, vectors }) => sized([1, ...unsigned(vectors), V128, ...code, END]))))
  ])
}
