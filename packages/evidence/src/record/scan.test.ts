import { describe, expect, it } from "vitest"
import { concatBytes, equalBytes, fromHex, fromUtf8, toHex, utf8 } from "../bytes.ts"
import { canonicalBytes } from "../json/canonical.ts"
import { nodeCrypto as crypto } from "../node/crypto.ts"
import { encodeRecord } from "./encode.ts"
import { parseInstant } from "./instant.ts"
import { readRecord } from "./read.ts"
import { isHashText, kindForm, partNameForm } from "./record.ts"
import { sampleChain } from "./sample-records.ts"
import { RecordScanner } from "./scan.ts"

const chain = sampleChain(crypto, 120)

/** Format 1 section 1 by parsing and writing again: what the scanner stands in for. */
const naive = (bytes: Uint8Array): string => {
  if (bytes.length > 65_536) return "E_LIMIT"
  const text = fromUtf8(bytes)
  if (text === null) return "E_NONCANONICAL"
  let value: unknown
  try {
    value = JSON.parse(text)
    if (!equalBytes(canonicalBytes(value), bytes) || !integers(value)) return "E_NONCANONICAL"
  } catch {
    return "E_NONCANONICAL"
  }
  if (depth(value) > 32) return "E_LIMIT"
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "E_NONCANONICAL"
  const { at, body, kind, parts, prev, seq, v } = value as Record<string, unknown>
  if (typeof v === "number" && v !== 1) return "E_VERSION"
  const partsFit =
    Array.isArray(parts) &&
    parts.every((part: unknown, i) => {
      const { c, name } = (part ?? {}) as Record<string, unknown>
      return (
        canonicalBytes(part).length === canonicalBytes({ c: c ?? null, name: name ?? null }).length &&
        typeof c === "string" &&
        isHashText(c) &&
        typeof name === "string" &&
        partNameForm.test(name) &&
        (i === 0 || name > (parts[i - 1] as { name: string }).name)
      )
    })
  const fits =
    Object.keys(value).join() === "at,body,kind,parts,prev,seq,v" &&
    typeof at === "string" &&
    typeof body === "object" &&
    body !== null &&
    !Array.isArray(body) &&
    typeof kind === "string" &&
    kindForm.test(kind) &&
    partsFit &&
    typeof prev === "string" &&
    isHashText(prev) &&
    typeof seq === "number" &&
    seq >= 0 &&
    v === 1
  return !fits ? "E_NONCANONICAL" : parseInstant(at) === null ? "E_TIME" : "ok"
}

const integers = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isSafeInteger(value)
    : typeof value !== "object" || value === null || Object.values(value).every(integers)

const depth = (value: unknown): number =>
  typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depth))

const answer = (bytes: Uint8Array): string => {
  const read = readRecord(bytes)
  if (read.ok) return "ok"
  expect(read.expected).not.toContain("one of two checks")
  expect(read.found).not.toContain("one of two checks")
  return read.code
}

const changed = (change: { readonly [name: string]: unknown }): Uint8Array => {
  const value = { ...(JSON.parse(fromUtf8(chain[7]!)!) as Record<string, unknown>), ...change }
  return canonicalBytes(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)))
}

describe("reading records", () => {
  it("gives back what was written", () => {
    for (const record of chain) {
      const read = readRecord(record)
      if (!read.ok) throw new Error(`${read.code}: ${read.found}`)
      const { atMs, ...rest } = read.record
      expect(rest).toEqual(JSON.parse(fromUtf8(record)!))
      expect(atMs).toBe(parseInstant(rest.at))
    }
  })

  it("names what is wrong by the format's codes", () => {
    const hash = "0a".repeat(32)
    const cases: ReadonlyArray<readonly [{ readonly [name: string]: unknown }, string]> = [
      [{}, "ok"],
      [{ v: 2 }, "E_VERSION"],
      [{ v: 0 }, "E_VERSION"],
      [{ v: -1, extra: 1 }, "E_VERSION"],
      [{ v: "1" }, "E_NONCANONICAL"],
      [{ v: null }, "E_NONCANONICAL"],
      [{ v: undefined }, "E_NONCANONICAL"],
      [{ extra: 1 }, "E_NONCANONICAL"],
      [{ parts: undefined }, "E_NONCANONICAL"],
      [{ seq: -1 }, "E_NONCANONICAL"],
      [{ seq: "0" }, "E_NONCANONICAL"],
      [{ seq: 2 ** 53 - 1 }, "ok"],
      [{ seq: 0.5 }, "E_NONCANONICAL"],
      [{ at: "2026-02-30T00:00:00.000Z" }, "E_TIME"],
      [{ at: "" }, "E_TIME"],
      [{ at: "\u0000".repeat(24) }, "E_TIME"],
      [{ at: 'a"b\\'.repeat(6) }, "E_TIME"],
      [{ at: 5 }, "E_NONCANONICAL"],
      [{ at: "2026-11-21T00:00:00.000Z " }, "E_TIME"],
      [{ body: [] }, "E_NONCANONICAL"],
      [{ body: null }, "E_NONCANONICAL"],
      [{ body: {} }, "ok"],
      [{ kind: "ab" }, "E_NONCANONICAL"],
      [{ kind: "a".repeat(64) }, "ok"],
      [{ kind: "a".repeat(65) }, "E_NONCANONICAL"],
      [{ kind: "1abc" }, "E_NONCANONICAL"],
      [{ kind: "a_.1" }, "ok"],
      [{ prev: "0A".repeat(32) }, "E_NONCANONICAL"],
      [{ prev: "0a" }, "E_NONCANONICAL"],
      [{ parts: [] }, "ok"],
      [{ parts: {} }, "E_NONCANONICAL"],
      [
        {
          parts: [
            { c: hash, name: "b" },
            { c: hash, name: "a" }
          ]
        },
        "E_NONCANONICAL"
      ],
      [
        {
          parts: [
            { c: hash, name: "a" },
            { c: hash, name: "a" }
          ]
        },
        "E_NONCANONICAL"
      ],
      [
        {
          parts: [
            { c: hash, name: "a" },
            { c: hash, name: "ab" }
          ]
        },
        "ok"
      ],
      [{ parts: [{ c: hash, name: "a", x: 1 }] }, "E_NONCANONICAL"],
      [{ parts: [{ c: hash, name: "A" }] }, "E_NONCANONICAL"],
      [{ parts: [{ c: `${hash}0`, name: "a" }] }, "E_NONCANONICAL"],
      [{ parts: [{ c: hash, name: `a${"1".repeat(31)}` }] }, "ok"],
      [{ parts: [{ c: hash, name: `a${"1".repeat(32)}` }] }, "E_NONCANONICAL"],
      [{ parts: [null] }, "E_NONCANONICAL"],
      [{ body: { a: 0.5 } }, "E_NONCANONICAL"],
      [{ body: { __proto__x: { constructor: 1 } } }, "ok"],
      [{ body: { a: "x".repeat(66_000) } }, "E_LIMIT"]
    ]
    for (const [change, code] of cases) {
      const bytes = changed(change)
      expect([change, answer(bytes)]).toEqual([change, code])
      expect([change, naive(bytes)]).toEqual([change, code])
    }
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect(answer(changed({ body: { a: nested(30) } }))).toBe("ok")
    expect(answer(changed({ body: { a: nested(31) } }))).toBe("E_LIMIT")
    for (const [text, code] of [
      ["", "E_NONCANONICAL"],
      ["{}", "E_NONCANONICAL"],
      ["[]", "E_NONCANONICAL"],
      ['{"v":2}', "E_VERSION"],
      ["1", "E_NONCANONICAL"]
    ] as const) {
      expect(answer(utf8(text))).toBe(code)
      expect(naive(utf8(text))).toBe(code)
    }
  })

  it("agrees with parsing and writing again on mutations at every byte", () => {
    const letters = [
      0x00, 0x0a, 0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x3a, 0x41, 0x5b, 0x5c, 0x5d, 0x61, 0x67, 0x75, 0x7b, 0x7d,
      0x80, 0xc3, 0xff
    ]
    for (const record of [chain[0]!, chain[13]!, chain[16]!, chain[26]!]) {
      for (let at = 0; at < record.length; at++) {
        const letter = letters[at % letters.length]!
        for (const mutant of [
          Uint8Array.from(record, (byte, i) => (i === at ? letter : byte)),
          Uint8Array.from(record, (byte, i) => (i === at ? byte ^ 1 : byte)),
          concatBytes(record.subarray(0, at), Uint8Array.of(letters[(at * 7) % letters.length]!), record.subarray(at)),
          concatBytes(record.subarray(0, at), record.subarray(at + 1))
        ]) {
          const [mine, theirs] = [answer(mutant), naive(mutant)]
          // Where several things are wrong, which is named first is not written down.
          if ((mine === "ok") !== (theirs === "ok") || (mine === "E_TIME") !== (theirs === "E_TIME"))
            expect([fromUtf8(mutant), mine]).toEqual([fromUtf8(mutant), theirs])
        }
      }
    }
  })
})

describe("the scanner", () => {
  const lines = concatBytes(...chain.flatMap((record) => [utf8("R "), record, utf8("\n")]))
  const places = chain.map((record, i) => {
    const start = chain.slice(0, i).reduce((sum, before) => sum + before.length + 3, 2)
    return { start, end: start + record.length }
  })

  it("reads records where they lie, in any order, one scanner for all", () => {
    const scanner = new RecordScanner()
    for (let i = 0; i < chain.length; i++) {
      const seq = (i * 37) % chain.length
      const { end, start } = places[seq]!
      expect(scanner.scan(lines, start, end)).toBeNull()
      const value = JSON.parse(fromUtf8(chain[seq]!)!) as {
        at: string
        body: object
        kind: string
        parts: ReadonlyArray<unknown>
        prev: string
        seq: number
      }
      expect([
        scanner.seq,
        scanner.atMs,
        scanner.kind(),
        scanner.body(),
        scanner.parts(),
        scanner.partCount,
        scanner.prev()
      ]).toEqual([
        value.seq,
        parseInstant(value.at),
        value.kind,
        value.body,
        value.parts,
        value.parts.length,
        value.prev
      ])
      expect([scanner.kindIs(value.kind), scanner.kindIs("chain.genesi"), scanner.kindIs("chain.genesiz")]).toEqual([
        true,
        false,
        false
      ])
      expect(fromUtf8(lines.subarray(scanner.bodyStart, scanner.bodyEnd))).toBe(fromUtf8(canonicalBytes(value.body)))
    }
  })

  it("compares prev with the hash of the record before", () => {
    const scanner = new RecordScanner()
    let before: Uint8Array | null = null
    for (const record of chain) {
      expect(scanner.scan(record, 0, record.length, before)).toBeNull()
      expect(scanner.prevMatches).toBe(before !== null)
      if (before !== null) {
        for (const bit of [0, 100, 255]) {
          const other = before.slice()
          other[bit >> 3]! ^= 1 << (bit & 7)
          expect(scanner.scan(record, 0, record.length, other)).toBeNull()
          expect(scanner.prevMatches).toBe(false)
        }
      }
      before = crypto.leafHash(record)
    }
  })

  it("does not let one record lean on the next, nor read behind the array", () => {
    const scanner = new RecordScanner()
    for (const { end, start } of places.slice(0, 20)) {
      for (const cut of [1, 2, 7, 8, 30, 90, 150]) {
        expect(scanner.scan(lines, start, end - cut)).not.toBeNull()
        expect(scanner.scan(lines.subarray(start, end - cut))).not.toBeNull()
        expect(scanner.scan(lines, start + cut, end)).not.toBeNull()
      }
      expect(scanner.scan(lines, start, end + 1)).not.toBeNull()
      expect(scanner.scan(lines.slice(start, end))).toBeNull()
    }
  })

  it("stops at the end of the bytes, whatever length they claim", () => {
    const scanner = new RecordScanner()
    const head = '{"at":"2026-11-21T00:00:00.000Z","body":{"'
    const hash = "0a".repeat(32)
    for (let pad = 0; pad < 260; pad++) {
      const a = "a".repeat(pad)
      for (const text of [
        `${head}${a}":1}`,
        `${head}${a}":"${a}":1}`,
        `${head}a":1},"kind":"${a}":1}`,
        `${head}a":1},"kind":"abc","parts":[{"c":"${hash}","name":"${a}":1}`,
        `${head}a":1},"kind":"abc","parts":[${a}":1}`,
        `${head}a":1},"kind":"abc","parts":[],"prev":"${hash.slice(0, pad)}":1}`,
        `{"at":"${a}":1}`,
        `${head}a":1},"kind":"abc","parts":[],"prev":"${hash}","seq":${"1".repeat(pad)}":1}`
      ])
        expect(scanner.scan(utf8(text))?.code).toBe("E_NONCANONICAL")
      // The scanner now knows bodies whose names are this long.
      expect(scanner.scan(utf8(`${head}${a}b":1},"kind":"abc","parts":[],"prev":"${hash}","seq":1,"v":1}`))).toBeNull()
    }
  })

  it("says a bad instant by NaN and continues", () => {
    const scanner = new RecordScanner()
    for (const at of [
      "2026-11-31T00:00:00.000Z",
      "later",
      "",
      ..."x"
        .repeat(40)
        .split("")
        .map((_, i) => "x".repeat(i)),
      "é".repeat(12),
      "2026-11-21T00:00:60.000Z"
    ]) {
      const bytes = changed({ at })
      expect(scanner.scan(chain[7]!)).toBeNull()
      expect(scanner.scan(bytes)).toBeNull()
      expect([scanner.atMs, scanner.seq, scanner.kind()]).toEqual([Number.NaN, 7, "decision.witnessed"])
    }
  })

  it("does not reuse a cached minute for another one", () => {
    expect(
      new RecordScanner().scan(utf8(fromUtf8(chain[7]!)!.replace(/"at":"[^"]*"/, `"at":"${"\0".repeat(16)}:00.000Z"`)))
        ?.code
    ).toBe("E_NONCANONICAL")
  })

  it("reads the longest and most escaped names that a body can have", () => {
    const body = JSON.parse('{"__proto__":{"a":1},"constructor":null,"toString":[1]}') as { [name: string]: never }
    const record = encodeRecord({
      at: "2026-11-21T00:00:00.000Z",
      body,
      kind: "abc",
      parts: [],
      prev: "0a".repeat(32),
      seq: 1
    })
    const scanner = new RecordScanner()
    expect(scanner.scan(record)).toBeNull()
    expect(Object.keys(scanner.body())).toEqual(["__proto__", "constructor", "toString"])
    expect(fromHex(scanner.prev())).toEqual(fromHex("0a".repeat(32)))
    expect(toHex(crypto.leafHash(record))).toHaveLength(64)
  })
})
