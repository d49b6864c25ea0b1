import { describe, expect, it } from "vitest"
import { fromUtf8, utf8 } from "../bytes.ts"
import { type JsonPath, readJson } from "./read.ts"
import { RawJson } from "./value.ts"

const keepArgs = (path: JsonPath): boolean => path.at(-1) === "args"
const read = (text: string) => readJson(utf8(text), { keepRaw: keepArgs })
const valueOf = (text: string): unknown => {
  const result = read(text)
  if (!result.ok) throw new Error(`${result.reason} at ${result.offset}`)
  return result.value
}
const raw = (value: unknown): string | null => value instanceof RawJson ? fromUtf8(value.bytes) : null

describe("reading JSON", () => {
  it.each(["{}", "[]", "0", "\"é\"", " [1 , 2.5e-3 , {\"a\" : null}]\n", "{\"a\":{\"b\":[true,false]},\"__proto__\":1}", "\"\\ud83d\\ude00 \\u00e9\"", "[-0, 1e300, 0.30000000000000004]"])(
    "reads %s as JSON.parse does",
    (text) => {
      expect(valueOf(text)).toEqual(JSON.parse(text))
    }
  )

  it.each([
    ["", 0], ["{", 1], ["[1,]", 3], ["{\"a\":1,}", 7], ["{\"a\" 1}", 5], ["[01]", 2], ["[1.]", 2], ["[-]", 1], ["\"\\x\"", 0], ["\"a\nb\"", 2], ["\"abc", 4], ["[1] 2", 4],
    ["\ufeff[]", 0], ["nul", 0], ["{a:1}", 1], ["[\"é\",x]", 6], ["{\"a\":\"\\u12\"}", 5], ["[+1]", 1], ["[NaN]", 1], ["[1}", 2]
  ])("says where %j breaks", (text, offset) => {
    expect(read(text)).toMatchObject({ ok: false, reason: "syntax", offset })
  })

  it("says which value is at fault", () => {
    expect(read("{\"a\":[1,{\"b\":tru}]}")).toEqual({ ok: false, reason: "syntax", offset: 13, path: ["a", 1, "b"] })
    expect(read("{\"a\":[{\"b\":1,\"b\":2}]}")).toEqual({ ok: false, reason: "duplicate", offset: 13, path: ["a", 0, "b"] })
  })

  it("refuses broken UTF-8, with its place", () => {
    expect(readJson(Uint8Array.of(0x22, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x22))).toEqual({ ok: false, reason: "utf8", offset: 3, path: [] })
  })

  it("bounds bytes and depth", () => {
    expect(readJson(utf8("[1,2]"), { maxBytes: 4 })).toMatchObject({ ok: false, reason: "size" })
    expect(readJson(utf8("[1,2]"), { maxBytes: 5 }).ok).toBe(true)
    expect(read("[".repeat(64) + "]".repeat(64)).ok).toBe(true)
    expect(read("[".repeat(65) + "]".repeat(65))).toMatchObject({ ok: false, reason: "depth", offset: 64 })
    expect(read("[".repeat(1_000_000))).toMatchObject({ ok: false, reason: "depth" })
    expect(read(`{"args":${"[".repeat(64)}${"]".repeat(64)}}`)).toMatchObject({ ok: false, reason: "depth" })
    expect(read(`["${"[".repeat(100)}"]`).ok).toBe(true)
  })

  it.each([
    "{\"a\":1,\"a\":1}", "\"\\ud800\"", "[\"\\udc00\\ud800\"]", "{\"\\ud800\":1}", "1e400", "[-1e999]", "9007199254740992", "-9007199254740993", "12345678901234567890",
    "{\"x\":{\"a\":1,\"b\":2,\"a\":3}}", "{\"\\u0061\":1,\"a\":2}", "[ 1e400 ]",
    `${"1".repeat(400)}.5`, `${"1".repeat(250)}e99`, `-${"9".repeat(310)}`
  ])("keeps %s as it was received", (value) => {
    const read = valueOf(`{"n":1,"args": ${value} ,"result":2}`) as { n: number; args: unknown; result: number }
    expect([read.n, raw(read.args), read.result]).toEqual([1, value, 2])
  })

  it.each([
    "9007199254740991", "-9007199254740991", "1234567890123456", "1e2", "1E+99", "1e-99", "0.1234567890123456789", "123456789012345678.5", "\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00\"", "{\"a\":1,\"b\":{\"a\":1}}", "-0"
  ])("reads %s as an ordinary value, which has an exact form", (value) => {
    expect(valueOf(`{"args":${value}}`)).toEqual({ args: JSON.parse(value) as unknown })
  })

  it("keeps a value next to one that is read", () => {
    const text = "{\"decisions\":[{\"args\":{\"b\":1,\"b\":2},\"client_ref\":\"a\"},{\"args\":{\"b\":1},\"client_ref\":\"é\"}]}"
    const { decisions } = valueOf(text) as { decisions: ReadonlyArray<{ args: unknown; client_ref: string }> }
    expect(raw(decisions[0]!.args)).toBe("{\"b\":1,\"b\":2}")
    expect(decisions[1]).toEqual({ args: { b: 1 }, client_ref: "é" })
  })

  it("does not keep more than was asked for", () => {
    // The fault is inside the value selected, so the whole of it is kept, and nothing above it.
    expect(raw((valueOf("{\"args\":[{\"args\":1e999}]}") as { args: unknown }).args)).toBe("[{\"args\":1e999}]")
    expect(valueOf("{\"n\":\"\\ud800\",\"m\":1e400,\"i\":9007199254740993}")).toEqual({ n: "\ud800", m: Infinity, i: 9007199254740992 })
    expect(read("{\"args\":1,\"args\":2}")).toMatchObject({ ok: false, reason: "duplicate", path: ["args"] })
  })

  it("takes __proto__ for the name it is", () => {
    for (const text of ["{\"__proto__\":{\"polluted\":true}}", "{\"__proto__\":{\"polluted\":true},\"args\":1e400}"]) {
      const value = valueOf(text) as object
      expect(Object.keys(value)[0]).toBe("__proto__")
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect((value as { polluted?: boolean }).polluted).toBeUndefined()
    }
    expect(read("{\"__proto__\":1,\"__proto__\":2}")).toMatchObject({ ok: false, reason: "duplicate" })
    expect(read("{\"constructor\":1,\"toString\":2,\"x\":\"\\ud800\"}").ok).toBe(true)
  })

  it("copies what it keeps, so that a body is not held in memory for it", () => {
    const bytes = utf8("{\"args\":1e400}")
    const result = readJson(bytes, { keepRaw: keepArgs })
    bytes.fill(0)
    expect(result.ok && raw((result.value as { args: unknown }).args)).toBe("1e400")
  })

  it("reads a root that is to be kept", () => {
    const result = readJson(utf8(" [1,1e400] "), { keepRaw: () => true })
    expect(result.ok && raw(result.value)).toBe("[1,1e400]")
  })

  it("reads the same with and without the short way, on every mutation of a text", () => {
    const text = "{\"a\":[1,2.5,\"x\\u0041\\ud83d\\ude00\"],\"b\":{\"c\":null},\"d\":123456789012345}"
    for (let at = 0; at < text.length; at++) {
      for (const letter of "\"\\,:[]{}09-.eEud8c ") {
        const mutant = text.slice(0, at) + letter + text.slice(at + 1)
        const direct = readJson(utf8(mutant))
        // One number that has no short way makes the whole text go the long way.
        const long = readJson(utf8(`[1e400,${mutant}]`))
        expect([mutant, long.ok && (long.value as ReadonlyArray<unknown>)[1]]).toEqual([mutant, direct.ok && direct.value])
      }
    }
  })
})
