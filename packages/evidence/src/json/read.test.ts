import { describe, expect, it } from "vitest"
import { fromUtf8, utf8 } from "../bytes.ts"
import { inOneGo } from "../slices.ts"
import { type JsonPath, ONE_GO_PLACES, type ReadBounds, readJson, readJsonInSlices } from "./read.ts"
import { RawJson } from "./value.ts"

const keepArgs = (path: JsonPath): boolean => path.at(-1) === "args"
const read = (text: string) => readJson(utf8(text), { keepRaw: keepArgs })
const valueOf = (text: string): unknown => {
  const result = read(text)
  if (!result.ok) throw new Error(`${result.reason} at ${result.offset}`)
  return result.value
}
const raw = (value: unknown): string | null => (value instanceof RawJson ? fromUtf8(value.bytes) : null)

describe("reading JSON", () => {
  it.each([
    "{}",
    "[]",
    "0",
    '"é"',
    ' [1 , 2.5e-3 , {"a" : null}]\n',
    '{"a":{"b":[true,false]},"__proto__":1}',
    '"\\ud83d\\ude00 \\u00e9"',
    "[-0, 1e300, 0.30000000000000004]"
  ])("reads %s as JSON.parse does", (text) => {
    expect(valueOf(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ["", 0],
    ["{", 1],
    ["[1,]", 3],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ["[01]", 2],
    ["[1.]", 2],
    ["[-]", 1],
    ['"\\x"', 0],
    ['"a\nb"', 2],
    ['"abc', 4],
    ["[1] 2", 4],
    ["\ufeff[]", 0],
    ["nul", 0],
    ["{a:1}", 1],
    ['["é",x]', 6],
    ['{"a":"\\u12"}', 5],
    ["[+1]", 1],
    ["[NaN]", 1],
    ["[1}", 2]
  ])("says where %j breaks", (text, offset) => {
    expect(read(text)).toMatchObject({ ok: false, reason: "syntax", offset })
  })

  it("says which value is at fault", () => {
    expect(read('{"a":[1,{"b":tru}]}')).toEqual({ ok: false, reason: "syntax", offset: 13, path: ["a", 1, "b"] })
    expect(read('{"a":[{"b":1,"b":2}]}')).toEqual({ ok: false, reason: "duplicate", offset: 13, path: ["a", 0, "b"] })
  })

  it("refuses broken UTF-8, with its place", () => {
    expect(readJson(Uint8Array.of(0x22, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x22))).toEqual({
      ok: false,
      reason: "utf8",
      offset: 3,
      path: []
    })
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
    '{"a":1,"a":1}',
    '"\\ud800"',
    '["\\udc00\\ud800"]',
    '{"\\ud800":1}',
    "1e400",
    "[-1e999]",
    "9007199254740992",
    "-9007199254740993",
    "12345678901234567890",
    '{"x":{"a":1,"b":2,"a":3}}',
    '{"\\u0061":1,"a":2}',
    "[ 1e400 ]",
    `${"1".repeat(400)}.5`,
    `${"1".repeat(250)}e99`,
    `-${"9".repeat(310)}`
  ])("keeps %s as it was received", (value) => {
    const read = valueOf(`{"n":1,"args": ${value} ,"result":2}`) as { n: number; args: unknown; result: number }
    expect([read.n, raw(read.args), read.result]).toEqual([1, value, 2])
  })

  it.each([
    "9007199254740991",
    "-9007199254740991",
    "1234567890123456",
    "1e2",
    "1E+99",
    "1e-99",
    "0.1234567890123456789",
    "123456789012345678.5",
    '"\\ud83d\\ude00"',
    '"\\uD83D\\uDE00"',
    '{"a":1,"b":{"a":1}}',
    "-0"
  ])("reads %s as an ordinary value, which has an exact form", (value) => {
    expect(valueOf(`{"args":${value}}`)).toEqual({ args: JSON.parse(value) as unknown })
  })

  it("keeps a value next to one that is read", () => {
    const text = '{"decisions":[{"args":{"b":1,"b":2},"client_ref":"a"},{"args":{"b":1},"client_ref":"é"}]}'
    const { decisions } = valueOf(text) as { decisions: ReadonlyArray<{ args: unknown; client_ref: string }> }
    expect(raw(decisions[0]!.args)).toBe('{"b":1,"b":2}')
    expect(decisions[1]).toEqual({ args: { b: 1 }, client_ref: "é" })
  })

  it("does not keep more than was requested", () => {
    // The fault is inside the value selected, so the whole of it is kept, and nothing above it.
    expect(raw((valueOf('{"args":[{"args":1e999}]}') as { args: unknown }).args)).toBe('[{"args":1e999}]')
    expect(valueOf('{"n":"\\ud800","m":1e400,"i":9007199254740993}')).toEqual({
      n: "\ud800",
      m: Infinity,
      i: 9007199254740992
    })
    expect(read('{"args":1,"args":2}')).toMatchObject({ ok: false, reason: "duplicate", path: ["args"] })
  })

  it("takes __proto__ for the name it is", () => {
    for (const text of ['{"__proto__":{"polluted":true}}', '{"__proto__":{"polluted":true},"args":1e400}']) {
      const value = valueOf(text) as object
      expect(Object.keys(value)[0]).toBe("__proto__")
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect((value as { polluted?: boolean }).polluted).toBeUndefined()
    }
    expect(read('{"__proto__":1,"__proto__":2}')).toMatchObject({ ok: false, reason: "duplicate" })
    expect(read('{"constructor":1,"toString":2,"x":"\\ud800"}').ok).toBe(true)
  })

  it("copies what it keeps, so that a body is not held in memory for it", () => {
    const bytes = utf8('{"args":1e400}')
    const result = readJson(bytes, { keepRaw: keepArgs })
    bytes.fill(0)
    expect(result.ok && raw((result.value as { args: unknown }).args)).toBe("1e400")
  })

  it("reads a root that is to be kept", () => {
    const result = readJson(utf8(" [1,1e400] "), { keepRaw: () => true })
    expect(result.ok && raw(result.value)).toBe("[1,1e400]")
  })

  it("reads the same with and without the short way, on every mutation of a text", () => {
    const text = '{"a":[1,2.5,"x\\u0041\\ud83d\\ude00"],"b":{"c":null},"d":123456789012345}'
    for (let at = 0; at < text.length; at++) {
      for (const letter of '"\\,:[]{}09-.eEud8c ') {
        const mutant = text.slice(0, at) + letter + text.slice(at + 1)
        const direct = readJson(utf8(mutant))
        // One number that has no short way makes the whole text go the long way.
        const long = readJson(utf8(`[1e400,${mutant}]`))
        expect([mutant, long.ok && (long.value as ReadonlyArray<unknown>)[1]]).toEqual([
          mutant,
          direct.ok && direct.value
        ])
      }
    }
  })
})

describe("reading JSON in slices", () => {
  const slicesOf = (text: string, bounds: ReadBounds = {}) => {
    const work = readJsonInSlices(utf8(text), { keepRaw: keepArgs, ...bounds })
    for (let slices = 1; ; slices++) {
      const { done, value } = work.next()
      if (done === true) return { slices, result: value }
    }
  }
  const members = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":${index % 7}`).join(",")}}`
  const items = (count: number, item: string): string => `[${Array.from({ length: count }, () => item).join(",")}]`

  it.each([
    members(50_000),
    items(60_000, "{}"),
    items(20_000, '[1,[2,{"a":null}]]'),
    `{"args":${members(30_000)},"x":${items(30_000, '"\\u00e9"')}}`,
    `{"args":${items(30_000, "1e999")},"b":1}`,
    `${members(50_000)} x`,
    `${items(60_000, "true").slice(0, -1)},tru]`,
    `{"a":${items(20_000, "0")},"a":1}`
  ])("reads what it reads in one go, a thousand values at a time (text %#)", (text) => {
    const { result, slices } = slicesOf(text)
    expect(result).toEqual(readJson(utf8(text), { keepRaw: keepArgs }))
    expect(slices).toBeGreaterThan(text.split(",").length / 1_001)
  })

  it("reads a small text in one slice, whatever its problem", () => {
    for (const text of [members(ONE_GO_PLACES), "[1,]", `"${"x".repeat(200_000)}"`])
      expect(slicesOf(text).slices).toBe(1)
    expect(slicesOf(members(ONE_GO_PLACES + 1)).slices).toBeGreaterThan(1)
    expect(slicesOf(`"${"x".repeat(300_000)}"`).slices).toBeGreaterThan(1)
  })

  it("bounds values, and members of an object", () => {
    expect(slicesOf(items(20_000, "1"), { maxPlaces: 20_000 }).result.ok).toBe(true)
    for (const item of ["1", "1e999", "{}", "[[]]"])
      expect(slicesOf(items(20_001, item), { maxPlaces: 20_000 }).result).toMatchObject({ ok: false, reason: "places" })
    const bounds = { maxMembers: ONE_GO_PLACES, maxKeptMembers: 20_000 }
    expect(slicesOf(members(ONE_GO_PLACES), bounds).result.ok).toBe(true)
    expect(slicesOf(members(ONE_GO_PLACES + 1), bounds).result).toMatchObject({ ok: false, reason: "members" })
    expect(slicesOf(`{"args":[${members(20_000)}]}`, bounds).result.ok).toBe(true)
    expect(slicesOf(`{"args":[${members(20_001)}]}`, bounds).result).toMatchObject({ ok: false, reason: "members" })
  })

  it("ends alike in one go", () => {
    const text = utf8(members(50_000))
    expect(inOneGo(readJsonInSlices(text))).toEqual(readJson(text))
  })
})
