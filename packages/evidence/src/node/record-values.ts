/** The part of `record-code.ts` that reads values: texts, numbers, objects and lists. */
import {
  ASCENDS,
  code,
  digit,
  INTEGER,
  is,
  isNot,
  LIST,
  move,
  next,
  notSure,
  OBJECT,
  SAFE_DIGITS,
  TEXT,
  VALUE,
  within,
  word
} from "./record-words.ts"
import type { Code, WasmFunction } from "./wasm-code.ts"
import {
  above,
  addI32,
  again,
  below,
  both,
  call,
  differ,
  either,
  equal,
  equal8,
  get,
  highBits8,
  i32,
  isZero,
  leave,
  lessSigned,
  lessSigned8,
  load,
  load16,
  load32,
  load8,
  loop,
  lowestBit,
  or,
  set,
  splat8,
  subtract,
  tee,
  when
} from "./wasm-code.ts"

/** `text(at)`: where the plain text that goes on at `at` stops, most likely at its closing quote. */
export const text = (): WasmFunction => {
  const [AT, BITS, V] = [0, 1, 2]
  return {
    parameters: 1,
    numbers: 1,
    vectors: 1,
    answers: true,
    code: [
      loop(
        // Signed: what is not ASCII is less than a space, too.
        get(AT),
        load(0),
        set(V),
        get(V),
        splat8(code('"')),
        equal8,
        get(V),
        splat8(code("\\")),
        equal8,
        or,
        get(V),
        splat8(0x20),
        lessSigned8,
        or,
        highBits8,
        set(BITS),
        when(get(BITS), get(AT), get(BITS), lowestBit, addI32, leave),
        move(AT, 16),
        again(0)
      ),
      i32(-1)
    ]
  }
}

/** `ascends(before, name)`: whether one plain name comes before another; both end with a quote. */
export const ascends = (): WasmFunction => {
  const [BEFORE, AT, A, B] = [0, 1, 2, 3]
  return {
    parameters: 2,
    numbers: 2,
    answers: true,
    code: [
      loop(
        get(BEFORE),
        load8(),
        set(A),
        get(AT),
        load8(),
        set(B),
        when([get(A), get(B), equal], when([get(A), is('"')], i32(0), leave), next(BEFORE), next(AT), again(1))
      ),
      get(A),
      is('"'),
      get(B),
      isNot('"'),
      get(A),
      get(B),
      below,
      both,
      either,
      get(B),
      isNot('"'),
      both
    ]
  }
}

/** `integer(at)`: the index behind its digits. What follows them is the caller's to look at. */
export const integer = (): WasmFunction => {
  const [AT, FIRST] = [0, 1]
  return {
    parameters: 1,
    numbers: 1,
    answers: true,
    code: [
      when([get(AT), load8(), is("0")], get(AT), i32(1), addI32, leave),
      get(AT),
      get(AT),
      load8(),
      is("-"),
      addI32,
      tee(AT),
      set(FIRST),
      when([within([get(AT), load8()], "1", 9), isZero], notSure),
      loop(next(AT), when(digit([get(AT), load8()]), again(1))),
      when([get(AT), get(FIRST), subtract, i32(SAFE_DIGITS), above], notSure),
      get(AT)
    ]
  }
}

/** `value(at, room)`: the index behind a value. */
export const value = (): WasmFunction => {
  const [AT, ROOM_LEFT, BYTE] = [0, 1, 2]
  const literal = (text: string): Code =>
    when(
      [get(AT), load32(text.length - 4), i32(word(text.slice(-4))), equal, get(BYTE), is(text[0]!), both],
      get(AT),
      i32(text.length),
      addI32,
      leave
    )
  return {
    parameters: 2,
    numbers: 1,
    answers: true,
    code: [
      get(AT),
      load8(),
      set(BYTE),
      when(
        [get(BYTE), is('"')],
        get(AT),
        i32(1),
        addI32,
        call(TEXT),
        set(AT),
        when([get(AT), load8(), isNot('"')], notSure),
        get(AT),
        i32(1),
        addI32,
        leave
      ),
      when([digit(get(BYTE)), get(BYTE), is("-"), either], get(AT), call(INTEGER), leave),
      when([get(BYTE), is("{")], get(AT), get(ROOM_LEFT), call(OBJECT), leave),
      when([get(BYTE), is("[")], get(AT), get(ROOM_LEFT), call(LIST), leave),
      literal("true"),
      literal("null"),
      literal("false"),
      i32(-1)
    ]
  }
}

/** `object(at, room)`: the index behind an object whose opening brace is at `at`. */
export const object = (): WasmFunction => {
  const [AT, ROOM_LEFT, BEFORE, END, BYTE] = [0, 1, 2, 3, 4]
  return {
    parameters: 2,
    numbers: 3,
    answers: true,
    code: [
      when([get(ROOM_LEFT), isZero], notSure),
      next(AT),
      when([get(AT), load8(), is("}")], get(AT), i32(1), addI32, leave),
      loop(
        when([get(AT), load8(), isNot('"')], notSure),
        next(AT),
        when([get(AT), call(TEXT), tee(END), load16(), i32(code('"') | (code(":") << 8)), differ], notSure),
        when(get(BEFORE), when([get(BEFORE), get(AT), call(ASCENDS), isZero], notSure)),
        get(AT),
        set(BEFORE),
        get(END),
        i32(2),
        addI32,
        get(ROOM_LEFT),
        i32(1),
        subtract,
        call(VALUE),
        set(AT),
        when([get(AT), i32(0), lessSigned], notSure),
        get(AT),
        load8(),
        set(BYTE),
        next(AT),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("}")], notSure),
      get(AT)
    ]
  }
}

/** `list(at, room)`: the index behind a list whose opening bracket is at `at`. */
export const list = (): WasmFunction => {
  const [AT, ROOM_LEFT, BYTE] = [0, 1, 2]
  return {
    parameters: 2,
    numbers: 1,
    answers: true,
    code: [
      when([get(ROOM_LEFT), isZero], notSure),
      next(AT),
      when([get(AT), load8(), is("]")], get(AT), i32(1), addI32, leave),
      loop(
        get(AT),
        get(ROOM_LEFT),
        i32(1),
        subtract,
        call(VALUE),
        set(AT),
        when([get(AT), i32(0), lessSigned], notSure),
        get(AT),
        load8(),
        set(BYTE),
        next(AT),
        when([get(BYTE), is(",")], again(1))
      ),
      when([get(BYTE), isNot("]")], notSure),
      get(AT)
    ]
  }
}
