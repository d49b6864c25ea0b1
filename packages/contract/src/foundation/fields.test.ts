/** The bricks at their bounds: the last value that is taken and the first that is not. */
import { Result, Schema } from "effect"
import { assert, describe, it, vi } from "vitest"
import { decode } from "./decode.ts"
import {
  anyJson,
  defaulted,
  email,
  id,
  identifier,
  instant,
  integer,
  integerParam,
  jsonObject,
  list,
  oneOf,
  optional,
  orgUnit,
  OBJECT_LIMIT,
  text
} from "./fields.ts"

const takes = (
  schema: Schema.Top & { readonly DecodingServices: never },
  value: unknown,
  as: unknown = value
): void => {
  const decoded = decode(Schema.Struct({ m: schema }))({ m: value }, "body")
  assert.deepStrictEqual(
    Result.isSuccess(decoded) ? decoded.success.m : decoded.failure,
    as,
    JSON.stringify(value)?.slice(0, 80)
  )
}
const refuses = (schema: Schema.Top & { readonly DecodingServices: never }, value: unknown, type: string): void => {
  const decoded = decode(Schema.Struct({ m: schema }))({ m: value }, "body")
  assert.deepStrictEqual(
    Result.isFailure(decoded) ? decoded.failure.map((item) => [item.type, ...item.loc]) : "taken",
    [[type, "body", "m"]],
    JSON.stringify(value)?.slice(0, 80)
  )
}

/** UTF-16 units of the longest text that is normalised to NFC meanwhile. */
const longestNormalised = (run: () => void): number => {
  const normalize = vi.spyOn(String.prototype, "normalize")
  try {
    run()
    return Math.max(
      0,
      ...normalize.mock.calls.map(([form], call) => (form === "NFC" ? String(normalize.mock.contexts[call]).length : 0))
    )
  } finally {
    normalize.mockRestore()
  }
}

describe("text", () => {
  it("has its length in code points", () => {
    takes(text(1, 3), "😀😀😀")
    refuses(text(1, 3), "😀😀😀😀", "string_too_long")
    takes(text(2, 3), "😀a")
    refuses(text(2, 3), "😀", "string_too_short")
    refuses(text(1, 3), "", "string_too_short")
    takes(text(0, 3), "")
  })
  it("is NFC, before it is measured", () => {
    takes(text(1, 1), "e\u0301", "é")
    takes(text(1, 2), "\u1100\u1161", "가")
  })
  it("accepts text that fits in NFC, however much longer the sent form is", () => {
    takes(text(1, 200), "\u03b1\u0345\u0313\u0300".repeat(200), "\u1f82".repeat(200))
    takes(text(1, 1), "\ud800\udf00".normalize("NFD"), "\ud800\udf00")
    takes(
      text(1, 200),
      `e${"\u0301\u0323".repeat(100)}`,
      `\u1eb9\u0323${"\u0323".repeat(98)}${"\u0301".repeat(100)}`.normalize("NFC")
    )
    refuses(text(1, 200), "\u03b1\u0345\u0313\u0300".repeat(201), "string_too_long")
  })
  it("does not normalise a text that cannot fit", () => {
    assert.strictEqual(
      longestNormalised(() => takes(text(0, 3), "abc")),
      3
    )
    assert.strictEqual(
      longestNormalised(() => refuses(text(0, 4_000), "a\u0323\u0301".repeat(8_001), "string_too_long")),
      0
    )
    assert.strictEqual(
      longestNormalised(() => refuses(text(0, 4_000), "\u0323\u0301".repeat(100_000), "string_too_long")),
      0
    )
    assert.strictEqual(
      longestNormalised(() => refuses(text(0, 4_000), `a${"\u0323\u0301".repeat(4_000)}`, "string_too_long")),
      0
    )
    assert.strictEqual(
      longestNormalised(() => refuses(text(0, 4_000), "\u{1d165}".repeat(7_000), "string_too_long")),
      0
    )
  })
  it("at most four code points join into one, three of them combining marks", () => {
    const isCombining = (mark: string): boolean =>
      mark === "\u0345" || !`\u0345${mark}`.normalize("NFD").startsWith("\u0345")
    for (let code = 0; code < 0x110000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue
      const one = String.fromCodePoint(code)
      const parts = [...one.normalize("NFD")]
      if (parts.length > 4 || (one.normalize("NFC") === one && parts.filter(isCombining).length > 3))
        assert.fail(`U+${code.toString(16)} stands for ${parts.length}`)
      if (isCombining(one) && !/\p{M}/u.test(one)) assert.fail(`U+${code.toString(16)} combines and is no mark`)
    }
  })
  it("is measured as if it were always normalised", () => {
    const pieces = [
      "a",
      "e",
      "\u1ebf",
      "\u03b1",
      "\u0301",
      "\u0323",
      "\u0345",
      "\u0344",
      "\u034f",
      "\u0f73",
      "\u1100",
      "\u1161",
      "\u11a8",
      "\u09c7",
      "\u09be",
      "\u0dd9",
      "\u0dcf",
      "\u0dca",
      "\u{1d157}",
      "\u{1d165}",
      "\u3099",
      "\u304b"
    ]
    let random = 1
    for (let round = 0; round < 4_000; round++) {
      let raw = ""
      for (let left = 1 + (round % 40); left > 0; left--)
        raw += pieces[(random = (random * 48_271) % 0x7fffffff) % pieces.length]!.repeat(random % 7 === 0 ? 5 : 1)
      const length = [...raw.normalize("NFC")].length
      const max = Math.max(1, length + (random % 3) - 1)
      const decoded = decode(text(0, max))(raw, "body")
      assert.strictEqual(
        Result.isSuccess(decoded) ? decoded.success : null,
        length <= max ? raw.normalize("NFC") : null,
        JSON.stringify([raw, max])
      )
    }
  })
  it("contains no U+0000 and no lone surrogate", () => {
    for (const value of ["\0", "a\0b", "\ud800", "a\udc00", "\udc00\ud800"]) refuses(text(1, 10), value, "value_error")
    takes(text(1, 10), "\u0001\u200b\uffff")
  })
  it("is a JSON string", () => {
    for (const value of [1, true, null, [], {}]) refuses(text(1, 10), value, "string_type")
  })
})

describe("identifier", () => {
  it("has the characters of the contract", () => {
    takes(identifier(128), "AZaz09._:/@+-")
    for (const value of [" ", "a b", "ä", "a\n", "\n", "a\0", "a,b", "a#b", "😀", "\ud800"])
      refuses(identifier(128), value, "string_pattern_mismatch")
    takes(identifier(3), "abc")
    refuses(identifier(3), "abcd", "string_too_long")
    refuses(identifier(3), "", "string_too_short")
  })
})

describe("ids", () => {
  it("are prefix and 26 characters of the alphabet", () => {
    takes(id("agent"), `agt_${"0".repeat(26)}`)
    takes(id("agent"), "agt_0123456789abcdefghjkmnpqrs")
    for (const value of [
      `agt_${"0".repeat(25)}`,
      `agt_${"0".repeat(27)}`,
      `key_${"0".repeat(26)}`,
      `agt_${"i".repeat(26)}`,
      `agt_${"l".repeat(26)}`,
      `agt_${"o".repeat(26)}`,
      `agt_${"u".repeat(26)}`,
      `agt_${"A".repeat(26)}`
    ]) {
      refuses(id("agent"), value, "string_pattern_mismatch")
    }
  })
})

describe("integers", () => {
  it("of a body are JSON integers within bounds", () => {
    takes(integer(1, 5), 1)
    takes(integer(1, 5), 5)
    refuses(integer(1, 5), 0, "greater_than_equal")
    refuses(integer(1, 5), 6, "less_than_equal")
    takes(integer(), Number.MAX_SAFE_INTEGER)
    refuses(integer(), Number.MAX_SAFE_INTEGER + 1, "less_than_equal")
    for (const value of [1.5, "1", true, null, [], {}, Number.POSITIVE_INFINITY, Number.NaN])
      refuses(integer(), value, "int_type")
    for (const value of ["1", true, null, []]) refuses(Schema.Number, value, "float_type")
  })
  it("of a query are decimal digits", () => {
    takes(integerParam(1, 5), "5", 5)
    takes(integerParam(1, 5), "05", 5)
    refuses(integerParam(1, 5), "0", "greater_than_equal")
    refuses(integerParam(1, 5), "-1", "greater_than_equal")
    refuses(integerParam(1, 5), "6", "less_than_equal")
    for (const value of ["", " 1", "1.0", "1e3", "0x1", "+1", "one", "١"]) refuses(integerParam(), value, "int_parsing")
  })
})

describe("times, words, lists", () => {
  it("times come out as UTC", () => {
    takes(instant, "2026-01-01T00:00:00+01:00", "2025-12-31T23:00:00.000Z")
    refuses(instant, "2026-01-01", "datetime_parsing")
    refuses(instant, 1, "string_type")
  })
  it("words of a closed list are checked", () => {
    takes(oneOf(["a", "b"]), "b")
    for (const value of ["c", "A", "", 1, null]) refuses(oneOf(["a", "b"]), value, "enum")
    refuses(oneOf(["a"]), "b", "literal_error")
  })
  it("lists have a length", () => {
    takes(list(integer(), 1, 2), [1, 2])
    refuses(list(integer(), 1, 2), [], "too_short")
    refuses(list(integer(), 1, 2), [1, 2, 3], "too_long")
    refuses(list(integer(), 1, 2), {}, "list_type")
  })
})

describe("addresses and org units", () => {
  it("an e-mail address has text on both sides of one @", () => {
    takes(email, "ann@example.org")
    takes(email, "jürgen@bücher.example")
    for (const value of ["ann", "@example.org", "ann@", "a@b@c", "a b@c", "a@b c", "a@b\r\nbcc: x", "<a@b>", "a,b@c"]) {
      refuses(email, value, value.length < 3 ? "string_too_short" : "value_error")
    }
    takes(email, `${"a".repeat(250)}@b.c`)
    refuses(email, `${"a".repeat(251)}@b.c`, "string_too_long")
  })
  it("no org unit is called *", () => {
    takes(orgUnit, "Schäden / Nord")
    refuses(orgUnit, "*", "value_error")
  })
})

describe("free JSON", () => {
  it("of a document is plain, exact and bounded", () => {
    takes(jsonObject, { a: [1, 1.5, null, true, { b: "x" }] })
    takes(jsonObject, JSON.parse('{"__proto__":{"a":1}}'))
    for (const value of [
      { a: 2 ** 53 },
      { a: Number.POSITIVE_INFINITY },
      { a: "\ud800" },
      { "\udc00": 1 },
      { a: "\0" },
      { a: new Uint8Array(2) },
      { a: [new Map()] }
    ])
      refuses(jsonObject, value, "value_error")
    let deep: unknown = 1
    for (let level = 0; level < 33; level++) deep = { deep }
    refuses(jsonObject, deep, "value_error")
    takes(jsonObject, { a: "x".repeat(OBJECT_LIMIT - 8) })
    refuses(jsonObject, { a: "x".repeat(OBJECT_LIMIT - 7) }, "too_long")
    for (const value of [[], "x", 1, null]) refuses(jsonObject, value, "dict_type")
  })
  it("elsewhere may be any JSON value, unchanged", () => {
    class Bytes {
      readonly bytes = new Uint8Array(3)
    }
    const bytes = new Bytes()
    const decoded = decode(Schema.Struct({ m: anyJson }))({ m: bytes }, "body")
    assert.strictEqual(Result.getOrThrow(decoded).m, bytes)
    takes(anyJson, null)
  })
})

describe("members", () => {
  const shape = decode(Schema.Struct({ a: optional(integer()), b: defaulted(oneOf(["x", "y"]), "x") }))
  it("that are optional may be null or absent, defaults fill in", () => {
    assert.deepStrictEqual(Result.getOrThrow(shape({}, "body")), { b: "x" })
    assert.deepStrictEqual(Result.getOrThrow(shape({ a: null, b: "y" }, "body")), { a: null, b: "y" })
  })
  it("undefined is refused: it is no JSON", () => {
    assert.isTrue(Result.isFailure(shape({ a: undefined }, "body")))
  })
})
