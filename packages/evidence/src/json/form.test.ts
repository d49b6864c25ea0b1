import { describe, expect, it } from "vitest"
import { fromUtf8, utf8 } from "../bytes.ts"
import { canonicalize } from "./canonical.ts"
import { checkForm } from "./form.ts"

const formOf = (text: string): string => checkForm(utf8(text))?.reason ?? "ok"

/** The slow equivalent of the checker: parse, write again, compare, and check the numbers' text. */
const naive = (bytes: Uint8Array): boolean => {
  const text = fromUtf8(bytes)
  if (text === null) return false
  try {
    const value = JSON.parse(text) as unknown
    return (
      canonicalize(value, 32) === text &&
      !/[.eE]/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/true|false/g, "")) &&
      integersIn(value)
    )
  } catch {
    return false
  }
}

const integersIn = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isSafeInteger(value)
    : typeof value !== "object" || value === null || Object.values(value).every(integersIn)

describe("the form checker", () => {
  it.each([
    "0",
    "-1",
    "9007199254740991",
    "-9007199254740991",
    "true",
    "false",
    "null",
    '""',
    "[]",
    "{}",
    "[0,1,[2]]",
    '{"":1,"a":2,"aa":3}',
    '"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f\\u000b/"',
    '"é€😂\u2028\u007f"',
    '{"a\\n":1,"a\\t":2}',
    '{"1":1,"10":2,"2":3}',
    '{"😂":1,"ﬀ":2}'
  ])("takes %s", (text) => {
    expect(naive(utf8(text))).toBe(text !== '{"a\\n":1,"a\\t":2}')
    expect(formOf(text)).toBe(text === '{"a\\n":1,"a\\t":2}' ? "order" : "ok")
  })

  it.each([
    ["", "syntax"],
    [" 1", "syntax"],
    ["1 ", "syntax"],
    ["1\n", "syntax"],
    ["\ufeff1", "syntax"],
    ["[1, 2]", "syntax"],
    ["[1,]", "syntax"],
    ["[,1]", "syntax"],
    ['{"a":1,}', "syntax"],
    ['{"a" :1}', "syntax"],
    ["{a:1}", "syntax"],
    ['{"a":}', "syntax"],
    ["[1", "syntax"],
    ['{"a":1', "syntax"],
    ['"a', "syntax"],
    ['"a\tb"', "syntax"],
    ["tru", "syntax"],
    ["True", "syntax"],
    ["nul", "syntax"],
    ["falsey", "syntax"],
    ["[1]]", "syntax"],
    ["NaN", "syntax"],
    ["-0", "number"],
    ["00", "number"],
    ["01", "number"],
    ["-01", "number"],
    ["-", "number"],
    ["1.0", "number"],
    ["1e3", "number"],
    ["1E3", "number"],
    ["0.5", "number"],
    ["9007199254740992", "number"],
    ["-9007199254740992", "number"],
    ["9007199254740993", "number"],
    ["99999999999999999999999999", "number"],
    ["+1", "syntax"],
    ['"\\/"', "escape"],
    ['"\\u0041"', "escape"],
    ['"\\u000a"', "escape"],
    ['"\\u0008"', "escape"],
    ['"\\u001F"', "escape"],
    ['"\\u0020"', "escape"],
    ['"\\u00e9"', "escape"],
    ['"\\ud83d\\ude00"', "escape"],
    ['"\\ud800"', "escape"],
    ['"\\x"', "escape"],
    ['"\\u00"', "escape"],
    ['{"b":1,"a":2}', "order"],
    ['{"aa":1,"a":2}', "order"],
    ['{"a":1,"a":2}', "duplicate"],
    ['{"a":1,"b":{"d":1,"c":2}}', "order"],
    ['{"":1,"":2}', "duplicate"],
    ['{"é":1,"é":1}', "duplicate"],
    ['{"ﬀ":1,"😂":2}', "order"],
    ['{"a\\t":1,"a\\n":2,"a\\n":3}', "duplicate"],
    ['{"2":1,"10":2}', "order"]
  ])("refuses %s: %s", (text, reason) => {
    expect([text, formOf(text)]).toEqual([text, reason])
    expect(naive(utf8(text))).toBe(false)
  })

  it("allows 32 open containers, of either kind", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"]
    ] as const) {
      expect(formOf(open.repeat(32) + "1" + close.repeat(32))).toBe("ok")
      expect(formOf(open.repeat(33) + "1" + close.repeat(33))).toBe("depth")
    }
    expect(formOf("[".repeat(31) + "[]" + "]".repeat(31))).toBe("ok")
    expect(formOf("[".repeat(100_000))).toBe("depth")
  })

  it("refuses ill-formed UTF-8 wherever it stands in a word", () => {
    const bad = [
      [0x80],
      [0xc0, 0xaf],
      [0xc1, 0xbf],
      [0xe0, 0x9f, 0xbf],
      [0xed, 0xa0, 0x80],
      [0xed, 0xbf, 0xbf],
      [0xf0, 0x8f, 0xbf, 0xbf],
      [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xff],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xc3]
    ]
    for (const sequence of bad) {
      for (let pad = 0; pad < 9; pad++) {
        const bytes = Uint8Array.of(0x22, ...new Array<number>(pad).fill(0x61), ...sequence, 0x22)
        expect(checkForm(bytes)).toEqual({ reason: "utf8", offset: 1 + pad })
      }
    }
  })

  it("sees every byte at every place of a word", () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let at = 1; at < 14; at++) {
        const bytes = Uint8Array.from({ length: 15 }, (_, i) => (i === 0 || i === 14 ? 0x22 : i === at ? byte : 0x7e))
        expect([byte, at, checkForm(bytes) === null]).toEqual([byte, at, naive(bytes)])
      }
    }
  })

  it("reads the given range and says where the fault is", () => {
    const bytes = utf8("x[1,2]y")
    expect(checkForm(bytes, 1, 6)).toBeNull()
    expect(checkForm(bytes, 1, 7)).toEqual({ reason: "syntax", offset: 6 })
    expect(checkForm(bytes, 1, 5)).toEqual({ reason: "syntax", offset: 5 })
    expect(checkForm(utf8('[1,"a",01]'))).toEqual({ reason: "number", offset: 7 })
    expect(checkForm(utf8('"abc""def"'), 0, 3)).toEqual({ reason: "syntax", offset: 3 })
  })

  it("agrees with parsing and writing again on every mutation of a text", () => {
    const text = utf8('{"":0,"a":[1,-20,"x\\n\\u0001é"],"b":{"c":null,"c\\t":true,"😂":""},"c":false}')
    expect(checkForm(text)).toBeNull()
    const letters = [
      0x00, 0x09, 0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x31, 0x3a, 0x5b, 0x5c, 0x5d, 0x61, 0x62, 0x65, 0x6e, 0x75, 0x7b,
      0x7d, 0x80, 0xa9, 0xc3, 0xed, 0xf0
    ]
    for (let at = 0; at < text.length; at++) {
      for (const letter of letters) {
        for (const mutant of [
          Uint8Array.from(text, (byte, i) => (i === at ? letter : byte)),
          Uint8Array.of(...text.subarray(0, at), letter, ...text.subarray(at)),
          Uint8Array.of(...text.subarray(0, at), ...text.subarray(at + 1))
        ])
          if ((checkForm(mutant) === null) !== naive(mutant))
            expect(fromUtf8(mutant)).toBe("a text on which both agree")
      }
    }
  })
})
