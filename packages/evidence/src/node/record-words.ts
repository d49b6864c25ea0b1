/**
 * What the functions of `record-code.ts` are written in, beside the instructions themselves: letters, texts, steps, and
 * where each function is.
 */
import type { Code } from "./wasm-code.ts"
import { addI32, below, differ, either, equal, get, i32, leave, load32, set, subtract, when } from "./wasm-code.ts"

/** Digits of a number that is safe whatever they are. */
export const SAFE_DIGITS = 15

/** Places of the functions behind the two of the tree. */
export const TEXT = 2,
  ASCENDS = 3,
  INTEGER = 4,
  VALUE = 5,
  OBJECT = 6,
  LIST = 7,
  HASH = 8,
  NAME = 9,
  PARTS = 10,
  TIME = 11,
  RECORD = 12

/** The number of a letter. */
export const code = (letter: string): number => letter.charCodeAt(0)
/** Whether what is on the stack is this letter. */
export const is = (letter: string): Code => [i32(code(letter)), equal]
/** Whether it is another. */
export const isNot = (letter: string): Code => [i32(code(letter)), differ]
/** Ends the function: the scanner has to look. */
export const notSure: Code = [i32(-1), leave]
/** Adds to a local. */
export const move = (local: number, by: number): Code => [get(local), i32(by), addI32, set(local)]
/** Adds one to a local. */
export const next = (local: number): Code => move(local, 1)
/** Four letters as they lie in memory. */
export const word = (text: string): number =>
  code(text[0]!) | (code(text[1]!) << 8) | (code(text[2]!) << 16) | (code(text[3]!) << 24)

/**
 * Not sure unless this text stands at a local plus `offset`: four letters at a time, the last four perhaps overlapping
 * those before.
 */
export const expectText = (local: number, offset: number, text: string): Code => {
  const places = [...Array(Math.floor(text.length / 4)).keys()].map((i) => 4 * i)
  if (text.length % 4 > 0) places.push(text.length - 4)
  const differences = places.map((place) => [
    get(local),
    load32(offset + place),
    i32(word(text.slice(place, place + 4))),
    differ
  ])
  return when(
    differences.flatMap((difference, i) => (i === 0 ? difference : [difference, either])),
    notSure
  )
}

/** Whether the byte is one of `count` letters from `first` on. */
export const within = (byte: Code, first: string, count: number): Code => [
  byte,
  i32(code(first)),
  subtract,
  i32(count),
  below
]
/** Whether the byte is a digit. */
export const digit = (byte: Code): Code => within(byte, "0", 10)
