/** The part of `record-code.ts` that reads a record: its hashes, names, parts and time, and what lies between them. */
import { RUN } from "./record-memory.ts"
import {
  ASCENDS,
  code,
  digit,
  expectText,
  HASH,
  is,
  isNot,
  move,
  NAME,
  next,
  notSure,
  OBJECT,
  PARTS,
  SAFE_DIGITS,
  within,
  word
} from "./record-words.ts"
import type { Code, WasmFunction } from "./wasm-code.ts"
import {
  above,
  add64,
  addI32,
  again,
  allTrue8,
  and,
  below,
  both,
  call,
  differ,
  either,
  equal,
  get,
  i32,
  i64,
  isZero,
  leave,
  less8,
  lessSigned,
  load,
  load16,
  load32,
  load8,
  loop,
  multiply,
  multiply64,
  or,
  set,
  splat8,
  store32,
  store64,
  subtract,
  subtract8,
  when,
  widen
} from "./wasm-code.ts"

/** Containers that may be open inside a record, as in `json/form.ts`: the record itself is one of 32. */
const ROOM = 31

/** `hash(at)`: whether 64 bytes are lower-case hex digits. */
export const hash = (): WasmFunction => {
  const [AT, V] = [0, 1]
  const digits = (place: number): Code => [
    get(AT),
    load(16 * place),
    set(V),
    get(V),
    splat8(code("0")),
    subtract8,
    splat8(10),
    less8,
    get(V),
    splat8(code("a")),
    subtract8,
    splat8(6),
    less8,
    or
  ]
  return {
    parameters: 1,
    vectors: 1,
    answers: true,
    code: [digits(0), digits(1), and, digits(2), and, digits(3), and, allTrue8]
  }
}

/**
 * `name(at, dots)`: the index behind the letters, digits and underscores (and dots) that begin with a letter at `at`;
 * `at` when there is none.
 */
export const name = (): WasmFunction => {
  const [AT, DOTS, BYTE] = [0, 1, 2]
  return {
    parameters: 2,
    numbers: 1,
    answers: true,
    code: [
      when([within([get(AT), load8()], "a", 26), isZero], get(AT), leave),
      loop(
        next(AT),
        get(AT),
        load8(),
        set(BYTE),
        when(
          [
            within(get(BYTE), "a", 26),
            digit(get(BYTE)),
            either,
            get(BYTE),
            is("_"),
            either,
            get(BYTE),
            is("."),
            get(DOTS),
            both,
            either
          ],
          again(1)
        )
      ),
      get(AT)
    ]
  }
}

/** `parts(at)`: the index of the bracket behind the parts that begin at `at`; counts them. */
export const parts = (): WasmFunction => {
  const [AT, BEFORE, COUNT, FIRST, BYTE] = [0, 1, 2, 3, 4]
  return {
    parameters: 1,
    numbers: 4,
    answers: true,
    code: [
      i32(0),
      i32(0),
      store32(RUN.recordParts),
      when([get(AT), load8(), is("]")], get(AT), leave),
      loop(
        expectText(AT, 0, '{"c":"'),
        when([get(AT), i32(6), addI32, call(HASH), isZero], notSure),
        expectText(AT, 70, '","name":"'),
        move(AT, 80),
        get(AT),
        set(FIRST),
        get(AT),
        i32(0),
        call(NAME),
        set(AT),
        when([get(AT), get(FIRST), subtract, i32(1), subtract, i32(32), below, isZero], notSure),
        when([get(AT), load16(), i32(code('"') | (code("}") << 8)), differ], notSure),
        when(get(BEFORE), when([get(BEFORE), get(FIRST), call(ASCENDS), isZero], notSure)),
        get(FIRST),
        set(BEFORE),
        next(COUNT),
        get(AT),
        load8(2),
        set(BYTE),
        move(AT, 3),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("]")], notSure),
      i32(0),
      get(COUNT),
      store32(RUN.recordParts),
      get(AT),
      i32(1),
      subtract
    ]
  }
}

/** `time(at)`: milliseconds of the day that the instant at `at` names; its day is the caller's to look at. */
export const time = (): WasmFunction => {
  const [AT] = [0]
  const byte = (offset: number): Code => [get(AT), load8(offset)]
  const digitAt = (offset: number): Code => [byte(offset), i32(code("0")), subtract]
  const tens = (offset: number): Code => [digitAt(offset), i32(10), multiply, digitAt(offset + 1), addI32]
  const marks = [
    [10, "T"],
    [13, ":"],
    [16, ":"],
    [19, "."],
    [23, "Z"]
  ] as const
  const digits = [11, 12, 14, 15, 17, 18, 20, 21, 22]
  const times = (term: Code, factor: number): Code => [term, i32(factor), multiply]
  return {
    parameters: 1,
    answers: true,
    code: [
      when(
        marks.flatMap(([offset, mark], i) => [byte(offset), isNot(mark), i === 0 ? [] : either]),
        notSure
      ),
      when([digits.flatMap((offset, i) => [digit(byte(offset)), i === 0 ? [] : both]), isZero], notSure),
      when([tens(11), i32(23), above, digitAt(14), i32(5), above, either, digitAt(17), i32(5), above, either], notSure),
      times(tens(11), 3_600_000),
      times(tens(14), 60_000),
      addI32,
      times(tens(17), 1000),
      addI32,
      times(tens(20), 10),
      addI32,
      digitAt(22),
      addI32
    ]
  }
}

/**
 * `record(start)`: the index of the newline behind the record at `start`. Says its seq, its parts and where its prev
 * is.
 */
export const record = (): WasmFunction => {
  const [START, AT, FIRST, SEQ] = [0, 1, 2, 3]
  return {
    parameters: 1,
    numbers: 2,
    longs: 1,
    answers: true,
    code: [
      expectText(START, 0, '{"at":"'),
      expectText(START, 31, '","body":{'),
      get(START),
      i32(40),
      addI32,
      i32(ROOM),
      call(OBJECT),
      set(AT),
      when([get(AT), i32(0), lessSigned], notSure),
      expectText(AT, 0, ',"kind":"'),
      move(AT, 9),
      get(AT),
      set(FIRST),
      // Kinds whose body somebody reads, and all that begin like them.
      ["chain.ge", "key.rota", "part.era"].map((kind) =>
        when(
          [get(AT), load32(), i32(word(kind)), equal, get(AT), load32(4), i32(word(kind.slice(4))), equal, both],
          notSure
        )
      ),
      get(AT),
      i32(1),
      call(NAME),
      set(AT),
      when([get(AT), get(FIRST), subtract, i32(3), subtract, i32(62), below, isZero], notSure),
      expectText(AT, 0, '","parts":['),
      i32(0),
      get(AT),
      i32(11),
      addI32,
      store32(RUN.recordPartsAt),
      get(AT),
      i32(11),
      addI32,
      call(PARTS),
      set(AT),
      when([get(AT), i32(0), lessSigned], notSure),
      expectText(AT, 0, '],"prev":"'),
      i32(0),
      get(AT),
      i32(10),
      addI32,
      store32(RUN.prev),
      move(AT, 74),
      expectText(AT, 0, '","seq":'),
      move(AT, 8),
      get(AT),
      set(FIRST),
      // Record 0 is somebody else's.
      when([get(AT), load8(), is("0")], notSure),
      loop(
        when(
          digit([get(AT), load8()]),
          get(SEQ),
          i64(10),
          multiply64,
          get(AT),
          load8(),
          i32(code("0")),
          subtract,
          widen,
          add64,
          set(SEQ),
          next(AT),
          again(1)
        )
      ),
      when([get(AT), get(FIRST), subtract, i32(1), subtract, i32(SAFE_DIGITS), below, isZero], notSure),
      expectText(AT, 0, ',"v":1}\n'),
      i32(0),
      get(SEQ),
      store64(RUN.seq),
      get(AT),
      i32(7),
      addI32
    ]
  }
}
