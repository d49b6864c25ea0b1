/**
 * The form of records as WebAssembly: what `record/scan.ts` says in JavaScript, once more, for records whose texts are plain.
 *
 * Why: this is the loop over every byte of a pack. Sixteen bytes at a time it takes a third of the time, and it is as fast in a thread that has just begun.
 * It answers "good" or "not sure", never "bad": escapes, bytes outside ASCII, long numbers and all that is wrong are left to the scanner, so it
 * decides nothing. A test holds the two against each other. Spec: format 1 sections 1 and 2.
 */
import { LEAF, LEAVES, MAX_RUN, PAGES, ROW, RUN, TABLE } from "./record-memory.ts"
import { nodeConstants, nodeFunctions } from "./sha256-lanes.ts"
import type { Code, WasmFunction } from "./wasm-code.ts"
import {
  above, add64, addI32, again, allTrue8, and, anyBit, below, both, bytes16, call, copyBytes, differ, differ64, either, equal, equal8, get, highBits8, i32, i64, isZero, leave, less8, lessSigned, lessSigned8, load, load16, load32, load64,
  load8, loop, lowestBit, moduleOf, multiply, multiply64, or, pick8, set, shiftRight8, shuffle8, splat8, store32, store64, subtract, subtract8, tee, when, widen, xor
} from "./wasm-code.ts"

/** Containers that may be open inside a record, as in `json/form.ts`: the record itself is one of 32. */
const ROOM = 31
const MAX_RECORD_BYTES = 65_536
/** Digits of a number that is safe whatever they are. */
const SAFE_DIGITS = 15

// Places of the functions behind the two of the tree.
const TEXT = 2, ASCENDS = 3, INTEGER = 4, VALUE = 5, OBJECT = 6, LIST = 7, HASH = 8, NAME = 9, PARTS = 10, TIME = 11, RECORD = 12

const code = (letter: string): number => letter.charCodeAt(0)
const is = (letter: string): Code => [i32(code(letter)), equal]
const isNot = (letter: string): Code => [i32(code(letter)), differ]
const notSure: Code = [i32(-1), leave]
const move = (local: number, by: number): Code => [get(local), i32(by), addI32, set(local)]
const next = (local: number): Code => move(local, 1)
const word = (text: string): number => code(text[0]!) | (code(text[1]!) << 8) | (code(text[2]!) << 16) | (code(text[3]!) << 24)

/** Not sure unless this text stands at a local plus `offset`: four letters at a time, the last four perhaps overlapping those before. */
const expectText = (local: number, offset: number, text: string): Code => {
  const places = [...Array(Math.floor(text.length / 4)).keys()].map((i) => 4 * i)
  if (text.length % 4 > 0) places.push(text.length - 4)
  const differences = places.map((place) => [get(local), load32(offset + place), i32(word(text.slice(place, place + 4))), differ])
  return when(differences.flatMap((difference, i) => i === 0 ? difference : [difference, either]), notSure)
}

/** Whether the byte is one of `count` letters from `first` on. */
const within = (byte: Code, first: string, count: number): Code => [byte, i32(code(first)), subtract, i32(count), below]
const digit = (byte: Code): Code => within(byte, "0", 10)

/** `text(at)`: where the plain text that goes on at `at` stops, most likely at its closing quote. */
const text = (): WasmFunction => {
  const [AT, BITS, V] = [0, 1, 2]
  return {
    parameters: 1, numbers: 1, vectors: 1, answers: true,
    code: [
      loop(
        // Signed: what is not ASCII is less than a space, too.
        get(AT), load(0), set(V), get(V), splat8(code("\"")), equal8, get(V), splat8(code("\\")), equal8, or, get(V), splat8(0x20), lessSigned8, or, highBits8, set(BITS),
        when(get(BITS), get(AT), get(BITS), lowestBit, addI32, leave),
        move(AT, 16), again(0)
      ),
      i32(-1)
    ]
  }
}

/** `ascends(before, name)`: whether one plain name comes before another; both end with a quote. */
const ascends = (): WasmFunction => {
  const [BEFORE, AT, A, B] = [0, 1, 2, 3]
  return {
    parameters: 2, numbers: 2, answers: true,
    code: [
      loop(
        get(BEFORE), load8(), set(A), get(AT), load8(), set(B),
        when([get(A), get(B), equal], when([get(A), is("\"")], i32(0), leave), next(BEFORE), next(AT), again(1))
      ),
      get(A), is("\""), get(B), isNot("\""), get(A), get(B), below, both, either, get(B), isNot("\""), both
    ]
  }
}

/** `integer(at)`: the index behind its digits. What follows them is the caller's to look at. */
const integer = (): WasmFunction => {
  const [AT, FIRST] = [0, 1]
  return {
    parameters: 1, numbers: 1, answers: true,
    code: [
      when([get(AT), load8(), is("0")], get(AT), i32(1), addI32, leave),
      get(AT), get(AT), load8(), is("-"), addI32, tee(AT), set(FIRST),
      when([within([get(AT), load8()], "1", 9), isZero], notSure),
      loop(next(AT), when(digit([get(AT), load8()]), again(1))),
      when([get(AT), get(FIRST), subtract, i32(SAFE_DIGITS), above], notSure),
      get(AT)
    ]
  }
}

/** `value(at, room)`: the index behind a value. */
const value = (): WasmFunction => {
  const [AT, ROOM_LEFT, BYTE] = [0, 1, 2]
  const literal = (text: string): Code => when([get(AT), load32(text.length - 4), i32(word(text.slice(-4))), equal, get(BYTE), is(text[0]!), both], get(AT), i32(text.length), addI32, leave)
  return {
    parameters: 2, numbers: 1, answers: true,
    code: [
      get(AT), load8(), set(BYTE),
      when([get(BYTE), is("\"")], get(AT), i32(1), addI32, call(TEXT), set(AT), when([get(AT), load8(), isNot("\"")], notSure), get(AT), i32(1), addI32, leave),
      when([digit(get(BYTE)), get(BYTE), is("-"), either], get(AT), call(INTEGER), leave),
      when([get(BYTE), is("{")], get(AT), get(ROOM_LEFT), call(OBJECT), leave),
      when([get(BYTE), is("[")], get(AT), get(ROOM_LEFT), call(LIST), leave),
      literal("true"), literal("null"), literal("false"),
      i32(-1)
    ]
  }
}

/** `object(at, room)`: the index behind an object whose opening brace is at `at`. */
const object = (): WasmFunction => {
  const [AT, ROOM_LEFT, BEFORE, END, BYTE] = [0, 1, 2, 3, 4]
  return {
    parameters: 2, numbers: 3, answers: true,
    code: [
      when([get(ROOM_LEFT), isZero], notSure),
      next(AT),
      when([get(AT), load8(), is("}")], get(AT), i32(1), addI32, leave),
      loop(
        when([get(AT), load8(), isNot("\"")], notSure),
        next(AT),
        when([get(AT), call(TEXT), tee(END), load16(), i32(code("\"") | (code(":") << 8)), differ], notSure),
        when(get(BEFORE), when([get(BEFORE), get(AT), call(ASCENDS), isZero], notSure)),
        get(AT), set(BEFORE),
        get(END), i32(2), addI32, get(ROOM_LEFT), i32(1), subtract, call(VALUE), set(AT),
        when([get(AT), i32(0), lessSigned], notSure),
        get(AT), load8(), set(BYTE),
        next(AT),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("}")], notSure),
      get(AT)
    ]
  }
}

/** `list(at, room)`: the index behind a list whose opening bracket is at `at`. */
const list = (): WasmFunction => {
  const [AT, ROOM_LEFT, BYTE] = [0, 1, 2]
  return {
    parameters: 2, numbers: 1, answers: true,
    code: [
      when([get(ROOM_LEFT), isZero], notSure),
      next(AT),
      when([get(AT), load8(), is("]")], get(AT), i32(1), addI32, leave),
      loop(
        get(AT), get(ROOM_LEFT), i32(1), subtract, call(VALUE), set(AT),
        when([get(AT), i32(0), lessSigned], notSure),
        get(AT), load8(), set(BYTE),
        next(AT),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("]")], notSure),
      get(AT)
    ]
  }
}

/** `hash(at)`: whether 64 bytes are lower-case hex digits. */
const hash = (): WasmFunction => {
  const [AT, V] = [0, 1]
  const digits = (place: number): Code => [
    get(AT), load(16 * place), set(V),
    get(V), splat8(code("0")), subtract8, splat8(10), less8, get(V), splat8(code("a")), subtract8, splat8(6), less8, or
  ]
  return { parameters: 1, vectors: 1, answers: true, code: [digits(0), digits(1), and, digits(2), and, digits(3), and, allTrue8] }
}

/** `name(at, dots)`: the index behind the letters, digits and underscores (and dots) that begin with a letter at `at`; `at` when there is none. */
const name = (): WasmFunction => {
  const [AT, DOTS, BYTE] = [0, 1, 2]
  return {
    parameters: 2, numbers: 1, answers: true,
    code: [
      when([within([get(AT), load8()], "a", 26), isZero], get(AT), leave),
      loop(
        next(AT), get(AT), load8(), set(BYTE),
        when([within(get(BYTE), "a", 26), digit(get(BYTE)), either, get(BYTE), is("_"), either, get(BYTE), is("."), get(DOTS), both, either], again(1))
      ),
      get(AT)
    ]
  }
}

/** `parts(at)`: the index of the bracket behind the parts that begin at `at`; counts them. */
const parts = (): WasmFunction => {
  const [AT, BEFORE, COUNT, FIRST, BYTE] = [0, 1, 2, 3, 4]
  return {
    parameters: 1, numbers: 4, answers: true,
    code: [
      i32(0), i32(0), store32(RUN.recordParts),
      when([get(AT), load8(), is("]")], get(AT), leave),
      loop(
        expectText(AT, 0, "{\"c\":\""),
        when([get(AT), i32(6), addI32, call(HASH), isZero], notSure),
        expectText(AT, 70, "\",\"name\":\""),
        move(AT, 80), get(AT), set(FIRST),
        get(AT), i32(0), call(NAME), set(AT),
        when([get(AT), get(FIRST), subtract, i32(1), subtract, i32(32), below, isZero], notSure),
        when([get(AT), load16(), i32(code("\"") | (code("}") << 8)), differ], notSure),
        when(get(BEFORE), when([get(BEFORE), get(FIRST), call(ASCENDS), isZero], notSure)),
        get(FIRST), set(BEFORE), next(COUNT),
        get(AT), load8(2), set(BYTE),
        move(AT, 3),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("]")], notSure),
      i32(0), get(COUNT), store32(RUN.recordParts),
      get(AT), i32(1), subtract
    ]
  }
}

/** `time(at)`: milliseconds of the day that the instant at `at` names; its day is the caller's to look at. */
const time = (): WasmFunction => {
  const [AT] = [0]
  const byte = (offset: number): Code => [get(AT), load8(offset)]
  const digitAt = (offset: number): Code => [byte(offset), i32(code("0")), subtract]
  const tens = (offset: number): Code => [digitAt(offset), i32(10), multiply, digitAt(offset + 1), addI32]
  const marks = [[10, "T"], [13, ":"], [16, ":"], [19, "."], [23, "Z"]] as const
  const digits = [11, 12, 14, 15, 17, 18, 20, 21, 22]
  const times = (term: Code, factor: number): Code => [term, i32(factor), multiply]
  return {
    parameters: 1, answers: true,
    code: [
      when(marks.flatMap(([offset, mark], i) => [byte(offset), isNot(mark), i === 0 ? [] : either]), notSure),
      when([digits.flatMap((offset, i) => [digit(byte(offset)), i === 0 ? [] : both]), isZero], notSure),
      when([tens(11), i32(23), above, digitAt(14), i32(5), above, either, digitAt(17), i32(5), above, either], notSure),
      times(tens(11), 3_600_000), times(tens(14), 60_000), addI32, times(tens(17), 1000), addI32, times(tens(20), 10), addI32, digitAt(22), addI32
    ]
  }
}

/** `record(start)`: the index of the newline behind the record at `start`. Says its seq, its parts and where its prev is. */
const record = (): WasmFunction => {
  const [START, AT, FIRST, SEQ] = [0, 1, 2, 3]
  return {
    parameters: 1, numbers: 2, longs: 1, answers: true,
    code: [
      expectText(START, 0, "{\"at\":\""),
      expectText(START, 31, "\",\"body\":{"),
      get(START), i32(40), addI32, i32(ROOM), call(OBJECT), set(AT),
      when([get(AT), i32(0), lessSigned], notSure),
      expectText(AT, 0, ",\"kind\":\""),
      move(AT, 9), get(AT), set(FIRST),
      // Kinds whose body somebody reads, and all that begin like them.
      ["chain.ge", "key.rota", "part.era"].map((kind) => when([get(AT), load32(), i32(word(kind)), equal, get(AT), load32(4), i32(word(kind.slice(4))), equal, both], notSure)),
      get(AT), i32(1), call(NAME), set(AT),
      when([get(AT), get(FIRST), subtract, i32(3), subtract, i32(62), below, isZero], notSure),
      expectText(AT, 0, "\",\"parts\":["),
      i32(0), get(AT), i32(11), addI32, store32(RUN.recordPartsAt),
      get(AT), i32(11), addI32, call(PARTS), set(AT),
      when([get(AT), i32(0), lessSigned], notSure),
      expectText(AT, 0, "],\"prev\":\""),
      i32(0), get(AT), i32(10), addI32, store32(RUN.prev),
      move(AT, 74),
      expectText(AT, 0, "\",\"seq\":"),
      move(AT, 8), get(AT), set(FIRST),
      // Record 0 is somebody else's.
      when([get(AT), load8(), is("0")], notSure),
      loop(when(digit([get(AT), load8()]), get(SEQ), i64(10), multiply64, get(AT), load8(), i32(code("0")), subtract, widen, add64, set(SEQ), next(AT), again(1))),
      when([get(AT), get(FIRST), subtract, i32(1), subtract, i32(SAFE_DIGITS), below, isZero], notSure),
      expectText(AT, 0, ",\"v\":1}\n"),
      i32(0), get(SEQ), store64(RUN.seq),
      get(AT), i32(7), addI32
    ]
  }
}

/** `run(from, end)`: how many lines from `from` on are records as `verify/record-run.ts` takes them. Notes where they lie. */
const run = (): WasmFunction => {
  const [AT, END, START, BEHIND, COUNT, BEFORE, MS, LAST_MS, PLACE, PARTS_SEEN] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  const LAST_SEQ = 10
  const stop: Code = [
    i32(0), get(AT), store32(RUN.behind), i32(0), get(PARTS_SEEN), store32(RUN.parts), i32(0), get(BEFORE), store32(RUN.lastAt),
    i32(0), get(LAST_SEQ), store64(RUN.lastSeq), get(COUNT), leave
  ]
  const otherDay = [0, 3].map((offset) => [get(START), load64(7 + offset), get(BEFORE), load64(offset), differ64])
  const otherTime = [8, 16].map((offset) => [get(START), load64(7 + offset), get(BEFORE), load64(offset), differ64])
  const readTime: Code = [get(START), i32(7), addI32, call(TIME), tee(MS), i32(0), lessSigned]
  return {
    parameters: 2, numbers: 8, longs: 1, answers: true, name: "run",
    code: [
      i32(TABLE), set(PLACE),
      loop(
        when([get(AT), load16(), i32(code("R") | (code(" ") << 8)), differ], stop),
        when([get(COUNT), i32(MAX_RUN), equal], stop),
        get(AT), i32(2), addI32, set(START),
        when([get(START), call(RECORD), tee(BEHIND), i32(0), lessSigned], stop),
        when([get(BEHIND), get(END), below, isZero], stop),
        when([get(BEHIND), get(START), subtract, i32(MAX_RECORD_BYTES), above], stop),
        when([get(COUNT), isZero],
          when(readTime, stop),
          when([i32(0), load32(RUN.prev), call(HASH), isZero], stop)
        ),
        when(get(COUNT),
          when([i32(0), load64(RUN.seq), get(LAST_SEQ), i64(1), add64, differ64], stop),
          when([otherDay[0]!, otherDay[1]!, either], stop),
          when([otherTime[0]!, otherTime[1]!, either],
            when(readTime, stop),
            when([get(MS), get(LAST_MS), lessSigned], stop)
          )
        ),
        get(MS), set(LAST_MS),
        get(START), i32(7), addI32, set(BEFORE),
        i32(0), load64(RUN.seq), set(LAST_SEQ),
        get(PARTS_SEEN), i32(0), load32(RUN.recordParts), addI32, set(PARTS_SEEN),
        get(PLACE), get(START), store32(ROW.start), get(PLACE), get(BEHIND), store32(ROW.newline),
        get(PLACE), i32(0), load32(RUN.prev), store32(ROW.prev), get(PLACE), i32(0), load32(RUN.recordPartsAt), store32(ROW.parts),
        move(PLACE, ROW.bytes), next(COUNT),
        get(BEHIND), i32(1), addI32, set(AT),
        again(0)
      ),
      i32(0)
    ]
  }
}

/** `leaf(row)`: lays the record of a row of the table out as it is hashed, behind a zero; answers how many bytes that is. */
const leaf = (): WasmFunction => {
  const [PLACE, LENGTH] = [0, 1]
  return {
    parameters: 1, numbers: 1, answers: true, name: "leaf",
    code: [
      i32(LEAF + 1), get(PLACE), load32(ROW.start), get(PLACE), load32(ROW.newline), get(PLACE), load32(ROW.start), subtract, tee(LENGTH), copyBytes,
      get(LENGTH), i32(1), addI32
    ]
  }
}

/** `linked(count)`: whether every record of the table but the first names the hash of the one before. */
const linked = (): WasmFunction => {
  const [COUNT, PLACE, HASHED, PREV, HIGH, LOW, SEEN] = [0, 1, 2, 3, 4, 5, 6]
  const digits = bytes16([..."0123456789abcdef"].map(code))
  const half = (from: number, to: number): Code => {
    const side = (first: number): Code => shuffle8(Array.from({ length: 16 }, (_, i) => first + (i >> 1) + 16 * (i & 1)))
    const compare = (first: number, at: number): Code => [digits, get(HIGH), get(LOW), side(first), pick8, get(PREV), load(at), xor, get(SEEN), or, set(SEEN)]
    return [
      get(HASHED), load(from), shiftRight8(4), set(HIGH), get(HASHED), load(from), splat8(15), and, set(LOW),
      compare(0, to), compare(8, to + 16)
    ]
  }
  return {
    parameters: 1, numbers: 3, vectors: 3, answers: true, name: "linked",
    code: [
      i32(TABLE + ROW.bytes), set(PLACE), i32(LEAVES), set(HASHED),
      loop(when([get(COUNT), i32(1), subtract, tee(COUNT)],
        get(PLACE), load32(ROW.prev), set(PREV), half(0, 0), half(16, 32), move(PLACE, ROW.bytes), move(HASHED, 32), again(1))),
      get(SEEN), anyBit, isZero
    ]
  }
}

/** The program: exports `memory`, `run`, `leaf`, `linked`, and `nodes` of the tree. */
export const recordProgram = (): Uint8Array<ArrayBuffer> =>
  moduleOf([...nodeFunctions(), text(), ascends(), integer(), value(), object(), list(), hash(), name(), parts(), time(), record(), run(), leaf(), linked()], PAGES, nodeConstants())
