import { describe, expect, it } from "vitest"
import { fromUtf8, toHex } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { canonicalBytes } from "../json/canonical.ts"
import { vectorText } from "../node/vectors.ts"
import { encodeRecord, encodeRecordText, recordBodyText, type RecordFields, RecordUnwritable } from "./encode.ts"
import { readRecord } from "./read.ts"
import { NO_RECORD } from "./record.ts"
import { sampleChain } from "./sample-records.ts"

const hash = "0a".repeat(32)
const fields: RecordFields = {
  at: "2026-11-21T00:00:00.000Z",
  body: { a: 1 },
  kind: "test.kind",
  parts: [
    { c: hash, name: "a" },
    { c: hash, name: "b" }
  ],
  prev: hash,
  seq: 7
}

const refusal = (changed: { readonly [name: string]: unknown }): string => {
  try {
    encodeRecord({ ...fields, ...changed } as RecordFields)
  } catch (error) {
    if (error instanceof RecordUnwritable) return error.reason
    throw error
  }
  return "written"
}

describe("writing records", () => {
  it("makes the worked example's bytes and hashes", () => {
    const { records } = JSON.parse(vectorText("flyball-format/example.json")) as {
      records: ReadonlyArray<{ bytes: string; length: number; record_hash: string }>
    }
    for (const { bytes, length, record_hash } of records) {
      const made = encodeRecord(JSON.parse(bytes) as RecordFields)
      expect([fromUtf8(made), made.length, toHex(portableCrypto.leafHash(made))]).toEqual([bytes, length, record_hash])
    }
  })

  it("writes the same record from the text of its body", () => {
    const { body, ...rest } = fields
    expect(encodeRecordText({ ...rest, bodyText: recordBodyText(fields.kind, body) })).toEqual(encodeRecord(fields))
  })

  it("writes what the general canonical writer would", () => {
    for (const record of sampleChain(portableCrypto, 60)) {
      const value = JSON.parse(fromUtf8(record)!) as RecordFields
      expect(record).toEqual(canonicalBytes(value))
      expect(encodeRecord({ ...value, body: Object.fromEntries(Object.entries(value.body).toReversed()) })).toEqual(
        record
      )
    }
    const invalid = {
      "": [-0, null, true, false, [], {}],
      "10": 1,
      "2": { "\ud83d\ude00": 1, "\ufb00": '"\\/\u2028\u007f\u0007' },
      __proto__x: ""
    }
    const made = encodeRecord({ ...fields, body: invalid })
    expect(made).toEqual(canonicalBytes({ ...fields, body: invalid, v: 1 }))
    expect(readRecord(made).ok).toBe(true)
  })

  it("writes nothing that a verifier would refuse", () => {
    expect(refusal({})).toBe("written")
    const bad: ReadonlyArray<{ readonly [name: string]: unknown }> = [
      { at: "2026-11-21T00:00:00Z" },
      { at: "2026-02-30T00:00:00.000Z" },
      { kind: "Test" },
      { kind: "ab" },
      { kind: `a${"b".repeat(64)}` },
      { kind: 'a"b' },
      { prev: hash.toUpperCase() },
      { prev: "" },
      { prev: NO_RECORD },
      { seq: -1 },
      { seq: 0.5 },
      { seq: 2 ** 53 },
      { seq: 0 },
      {
        parts: [
          { c: hash, name: "b" },
          { c: hash, name: "a" }
        ]
      },
      {
        parts: [
          { c: hash, name: "a" },
          { c: hash, name: "a" }
        ]
      },
      { parts: [{ c: "x", name: "a" }] },
      { parts: [{ c: hash, name: "A" }] },
      { parts: [{ c: hash, name: "" }] },
      { body: [] },
      { body: null },
      { body: new Date(0) },
      ...[
        0.5,
        Number.NaN,
        Infinity,
        2 ** 53,
        "\ud800",
        undefined,
        1n,
        Symbol.iterator,
        new Map(),
        [undefined],
        { a: undefined },
        { "\udc00": 1 },
        new Array(2)
      ].map((value) => ({ body: { a: value } }))
    ]
    for (const change of bad) expect(refusal(change)).not.toBe("written")
  })

  it("bounds depth and size where the format does", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect(refusal({ body: { a: nested(30) } })).toBe("written")
    expect(refusal({ body: { a: nested(31) } })).toContain("32 containers")
    const room = 65_536 - encodeRecord({ ...fields, body: { a: "" } }).length
    expect(encodeRecord({ ...fields, body: { a: "x".repeat(room) } })).toHaveLength(65_536)
    expect(refusal({ body: { a: "x".repeat(room + 1) } })).toContain("65537 bytes")
    expect(refusal({ body: { a: "é".repeat(room / 2 + 1) } })).toContain("bytes")
  })
})

describe("writing a body alone", () => {
  const least = { at: fields.at, parts: [], prev: NO_RECORD, seq: 0 }
  /** Returns the result of both writers for one body: its text, or the refusal. */
  const both = (kind: string, body: unknown): readonly [string, string] => {
    const said = (write: () => string): string => {
      try {
        return write()
      } catch (error) {
        if (error instanceof RecordUnwritable) return error.message
        throw error
      }
    }
    const whole = (): string => {
      const text = fromUtf8(encodeRecord({ ...least, kind, body } as unknown as RecordFields))!
      return text.slice(
        `{"at":"${least.at}","body":`.length,
        text.length - `,"kind":"${kind}","parts":[],"prev":"${NO_RECORD}","seq":0,"v":1}`.length
      )
    }
    return [said(() => recordBodyText(kind, body as RecordFields["body"])), said(whole)]
  }

  it("gives the text that stands in the record, and refuses what a record refuses", () => {
    const bodies: ReadonlyArray<unknown> = [
      {},
      { a: 1 },
      { b: 1, a: { d: [], c: null } },
      { t: '\u2028"\\é\ud83d\ude00' },
      { t: "\ud800" },
      { t: 1.5 },
      { t: undefined },
      null,
      [],
      "x",
      new Date(0),
      { "10": 1, "9": 2 }
    ]
    for (const body of bodies)
      for (const kind of ["test.kind", "Bad kind", "ab"]) {
        const [alone, whole] = both(kind, body)
        expect(alone).toBe(whole)
      }
  })

  it("ends where a record ends, to the byte", () => {
    for (const letter of ["x", "é", "€", "\ud83d\ude00"]) {
      const bytes = new TextEncoder().encode(letter).length
      for (let count = Math.floor(65_300 / bytes); count * bytes <= 65_600; count += Math.ceil(40 / bytes)) {
        const [body, whole] = both("test.kind", { t: letter.repeat(count) })
        expect(body).toBe(whole)
      }
    }
    const fits = 65_536 - encodeRecord({ ...least, kind: "test.kind", body: { t: "" } }).length
    expect(recordBodyText("test.kind", { t: "x".repeat(fits) })).toHaveLength(fits + `{"t":""}`.length)
    expect(() => recordBodyText("test.kind", { t: "x".repeat(fits + 1) })).toThrow("65537 bytes")
  })
})
