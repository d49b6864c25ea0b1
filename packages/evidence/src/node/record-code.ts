/**
 * The form of records as WebAssembly: what `record/scan.ts` says in JavaScript, once more, for records whose texts are
 * plain.
 *
 * Why: this is the loop over every byte of a pack. Sixteen bytes at a time it takes a third of the time, and it is as
 * fast in a thread that has just begun.
 * It answers "good" or "not sure", never "bad": escapes, bytes outside ASCII, long numbers and all that is wrong are
 * left to the scanner, so it
 * decides nothing. A test holds the two against each other. Spec: format 1 sections 1 and 2.
 */
import { hash, name, parts, record, time } from "./record-fields.ts"
import { LEAF, LEAVES, MAX_RUN, PAGES, ROW, RUN, TABLE } from "./record-memory.ts"
import { ascends, integer, list, object, text, value } from "./record-values.ts"
import { code, HASH, move, next, RECORD, TIME } from "./record-words.ts"
import { nodeConstants, nodeFunctions } from "./sha256-lanes.ts"
import type { Code, WasmFunction } from "./wasm-code.ts"
import {
  above,
  add64,
  addI32,
  again,
  and,
  anyBit,
  below,
  bytes16,
  call,
  copyBytes,
  differ,
  differ64,
  either,
  equal,
  get,
  i32,
  i64,
  isZero,
  leave,
  lessSigned,
  load,
  load16,
  load32,
  load64,
  loop,
  moduleOf,
  or,
  pick8,
  set,
  shiftRight8,
  shuffle8,
  splat8,
  store32,
  store64,
  subtract,
  tee,
  when,
  xor
} from "./wasm-code.ts"

const MAX_RECORD_BYTES = 65_536

/**
 * `run(from, end)`: how many lines from `from` on are records as `verify/record-run.ts` takes them. Notes where they
 * lie.
 */
const run = (): WasmFunction => {
  const [AT, END, START, BEHIND, COUNT, BEFORE, MS, LAST_MS, PLACE, PARTS_SEEN] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  const LAST_SEQ = 10
  const stop: Code = [
    i32(0),
    get(AT),
    store32(RUN.behind),
    i32(0),
    get(PARTS_SEEN),
    store32(RUN.parts),
    i32(0),
    get(BEFORE),
    store32(RUN.lastAt),
    i32(0),
    get(LAST_SEQ),
    store64(RUN.lastSeq),
    get(COUNT),
    leave
  ]
  const otherDay = [0, 3].map((offset) => [get(START), load64(7 + offset), get(BEFORE), load64(offset), differ64])
  const otherTime = [8, 16].map((offset) => [get(START), load64(7 + offset), get(BEFORE), load64(offset), differ64])
  const readTime: Code = [get(START), i32(7), addI32, call(TIME), tee(MS), i32(0), lessSigned]
  return {
    parameters: 2,
    numbers: 8,
    longs: 1,
    answers: true,
    name: "run",
    code: [
      i32(TABLE),
      set(PLACE),
      loop(
        when([get(AT), load16(), i32(code("R") | (code(" ") << 8)), differ], stop),
        when([get(COUNT), i32(MAX_RUN), equal], stop),
        get(AT),
        i32(2),
        addI32,
        set(START),
        when([get(START), call(RECORD), tee(BEHIND), i32(0), lessSigned], stop),
        when([get(BEHIND), get(END), below, isZero], stop),
        when([get(BEHIND), get(START), subtract, i32(MAX_RECORD_BYTES), above], stop),
        when([get(COUNT), isZero], when(readTime, stop), when([i32(0), load32(RUN.prev), call(HASH), isZero], stop)),
        when(
          get(COUNT),
          when([i32(0), load64(RUN.seq), get(LAST_SEQ), i64(1), add64, differ64], stop),
          when([otherDay[0]!, otherDay[1]!, either], stop),
          when(
            [otherTime[0]!, otherTime[1]!, either],
            when(readTime, stop),
            when([get(MS), get(LAST_MS), lessSigned], stop)
          )
        ),
        get(MS),
        set(LAST_MS),
        get(START),
        i32(7),
        addI32,
        set(BEFORE),
        i32(0),
        load64(RUN.seq),
        set(LAST_SEQ),
        get(PARTS_SEEN),
        i32(0),
        load32(RUN.recordParts),
        addI32,
        set(PARTS_SEEN),
        get(PLACE),
        get(START),
        store32(ROW.start),
        get(PLACE),
        get(BEHIND),
        store32(ROW.newline),
        get(PLACE),
        i32(0),
        load32(RUN.prev),
        store32(ROW.prev),
        get(PLACE),
        i32(0),
        load32(RUN.recordPartsAt),
        store32(ROW.parts),
        move(PLACE, ROW.bytes),
        next(COUNT),
        get(BEHIND),
        i32(1),
        addI32,
        set(AT),
        again(0)
      ),
      i32(0)
    ]
  }
}

/**
 * `leaf(row)`: lays the record of a row of the table out as it is hashed, behind a zero; answers how many bytes that
 * is.
 */
const leaf = (): WasmFunction => {
  const [PLACE, LENGTH] = [0, 1]
  return {
    parameters: 1,
    numbers: 1,
    answers: true,
    name: "leaf",
    code: [
      i32(LEAF + 1),
      get(PLACE),
      load32(ROW.start),
      get(PLACE),
      load32(ROW.newline),
      get(PLACE),
      load32(ROW.start),
      subtract,
      tee(LENGTH),
      copyBytes,
      get(LENGTH),
      i32(1),
      addI32
    ]
  }
}

/** `linked(count)`: whether every record of the table but the first names the hash of the one before. */
const linked = (): WasmFunction => {
  const [COUNT, PLACE, HASHED, PREV, HIGH, LOW, SEEN] = [0, 1, 2, 3, 4, 5, 6]
  const digits = bytes16([..."0123456789abcdef"].map(code))
  const half = (from: number, to: number): Code => {
    const side = (first: number): Code =>
      shuffle8(Array.from({ length: 16 }, (_, i) => first + (i >> 1) + 16 * (i & 1)))
    const compare = (first: number, at: number): Code => [
      digits,
      get(HIGH),
      get(LOW),
      side(first),
      pick8,
      get(PREV),
      load(at),
      xor,
      get(SEEN),
      or,
      set(SEEN)
    ]
    return [
      get(HASHED),
      load(from),
      shiftRight8(4),
      set(HIGH),
      get(HASHED),
      load(from),
      splat8(15),
      and,
      set(LOW),
      compare(0, to),
      compare(8, to + 16)
    ]
  }
  return {
    parameters: 1,
    numbers: 3,
    vectors: 3,
    answers: true,
    name: "linked",
    code: [
      i32(TABLE + ROW.bytes),
      set(PLACE),
      i32(LEAVES),
      set(HASHED),
      loop(
        when(
          [get(COUNT), i32(1), subtract, tee(COUNT)],
          get(PLACE),
          load32(ROW.prev),
          set(PREV),
          half(0, 0),
          half(16, 32),
          move(PLACE, ROW.bytes),
          move(HASHED, 32),
          again(1)
        )
      ),
      get(SEEN),
      anyBit,
      isZero
    ]
  }
}

/** The program: exports `memory`, `run`, `leaf`, `linked`, and `nodes` of the tree. */
export const recordProgram = (): Uint8Array<ArrayBuffer> =>
  moduleOf(
    [
      ...nodeFunctions(),
      text(),
      ascends(),
      integer(),
      value(),
      object(),
      list(),
      hash(),
      name(),
      parts(),
      time(),
      record(),
      run(),
      leaf(),
      linked()
    ],
    PAGES,
    nodeConstants()
  )
