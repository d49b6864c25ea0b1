import { describe, expect, it } from "vitest"
import { fromHex, fromUtf8, toHex, utf8 } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { vectorText } from "../node/vectors.ts"
import { canonicalBytes, canonicalize, canonicalizeInSlices, NotCanonical } from "./canonical.ts"
import { checkForm } from "./form.ts"
import { readJson } from "./read.ts"

const reasonOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof NotCanonical) return error.reason
    throw error
  }
  return "none"
}

const double = (hex: string): number => {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${hex}`))
  return view.getFloat64(0)
}

describe("RFC 8785 vectors", () => {
  it.each(["arrays", "french", "structures"])("%s", (name) => {
    const value = JSON.parse(vectorText(`jcs-rfc8785/input/${name}.json`)) as unknown
    expect(canonicalize(value)).toBe(vectorText(`jcs-rfc8785/output/${name}.json`))
    expect(toHex(canonicalBytes(value))).toBe(vectorText(`jcs-rfc8785/outhex/${name}.txt`).replaceAll(/\s/g, ""))
  })

  it("writes 5,000 numbers as ECMAScript does", () => {
    const lines = vectorText("jcs-rfc8785/es6-numbers-00001-05000.txt").trim().split("\n")
    expect(lines).toHaveLength(5000)
    for (const line of lines) {
      const [hex, expected] = line.split(",")
      expect(canonicalize(double(hex!.padStart(16, "0")))).toBe(expected)
    }
  })

  it("writes or refuses the numbers of appendix B", () => {
    for (const { ieee754, json } of JSON.parse(vectorText("jcs-rfc8785/rfc8785-appendix-b.json")) as ReadonlyArray<{
      ieee754: string
      json: string | null
    }>) {
      if (json === null) expect(reasonOf(() => canonicalize(double(ieee754)))).toBe("number")
      else expect(canonicalize([double(ieee754)])).toBe(`[${json}]`)
    }
  })

  it("refuses what must be refused, as a value, as form and as a reader", () => {
    for (const { id, input_hex } of JSON.parse(vectorText("jcs-rfc8785/must-reject.json")) as ReadonlyArray<{
      id: string
      input_hex: string
    }>) {
      const bytes = fromHex(input_hex)!
      // Some of the inputs are cut short on purpose: then there is no value to write.
      const read = readJson(bytes)
      if (read.ok) expect([id, reasonOf(() => canonicalize(read.value))]).toEqual([id, "surrogate"])
      expect([id, checkForm(bytes)?.reason]).toEqual([id, "escape"])
    }
  })

  it("holds the depth bound of A2A in writer, checker and reader", () => {
    const { max_depth, vectors } = JSON.parse(vectorText("jcs-rfc8785/a2a-jcs-depth.json")) as {
      max_depth: number
      vectors: ReadonlyArray<{
        vector_id: string
        outcome: string
        containers: ReadonlyArray<"object" | "array">
        count: number
        leaf: string
        preimage_bytes: number
        preimage_sha256: string
      }>
    }
    expect(vectors.length).toBeGreaterThan(3)
    for (const vector of vectors) {
      const levels = Array.from({ length: vector.count }, (_, i) => vector.containers[i % vector.containers.length]!)
      const text =
        levels.map((kind) => (kind === "object" ? '{"a":' : "[")).join("") +
        vector.leaf +
        levels
          .toReversed()
          .map((kind) => (kind === "object" ? "}" : "]"))
          .join("")
      const bytes = utf8(text)
      expect([vector.vector_id, bytes.length, toHex(portableCrypto.sha256(bytes))]).toEqual([
        vector.vector_id,
        vector.preimage_bytes,
        vector.preimage_sha256
      ])
      const accepted = vector.outcome === "accept"
      expect([vector.vector_id, checkForm(bytes, 0, bytes.length, max_depth)?.reason ?? "accept"]).toEqual([
        vector.vector_id,
        accepted ? "accept" : "depth"
      ])
      const read = readJson(bytes, { maxDepth: max_depth })
      expect([vector.vector_id, read.ok ? "accept" : read.reason]).toEqual([
        vector.vector_id,
        accepted ? "accept" : "depth"
      ])
      if (accepted) expect(canonicalize(JSON.parse(text), max_depth)).toBe(text)
      else expect(reasonOf(() => canonicalize(JSON.parse(text), max_depth))).toBe("depth")
    }
  })
})

describe("the canonical writer", () => {
  it("sorts by UTF-16 code units, at every depth", () => {
    const names = [
      "\u20ac",
      "\r",
      "\ufb33",
      "1",
      "\ud83d\ude00",
      "\u0080",
      "\u00f6",
      "",
      "a",
      "B",
      "10",
      "2",
      "__proto__"
    ]
    const object = Object.fromEntries(names.map((name, i) => [name, { z: i, a: [{ y: 1, x: 2 }] }]))
    const text = canonicalize([object])
    const written = Object.keys((JSON.parse(text) as [object])[0])
    expect(
      [...text.matchAll(/"((?:[^"\\]|\\.)*)":\{"a"/g)].map(([, name]) => JSON.parse(`"${name}"`) as string)
    ).toEqual(names.toSorted())
    expect(written.toSorted()).toEqual(names.toSorted())
    expect(text).not.toContain('"z":0,"a"')
  })

  it("escapes only what RFC 8785 requires", () => {
    const text = Array.from({ length: 0x30 }, (_, i) => String.fromCharCode(i)).join("") + "\\\u007f\u2028\ud83d\ude00"
    expect(canonicalize(text)).toBe(
      '"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f' +
        "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017" +
        '\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f !\\"#$%&\'()*+,-./\\\\\u007f\u2028\ud83d\ude00"'
    )
  })

  it("refuses what JSON cannot say", () => {
    const circle: Array<unknown> = []
    circle.push({ circle })
    const sparse = [1, 2]
    delete sparse[0]
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [Number.NaN, "number"],
      [-Infinity, "number"],
      ["\ud800", "surrogate"],
      [{ "\udc00": 1 }, "surrogate"],
      [{ a: ["\ude00\ud83d"] }, "surrogate"],
      [undefined, "type"],
      [{ a: undefined }, "type"],
      [1n, "type"],
      [() => 1, "type"],
      [Symbol.iterator, "type"],
      [new Date(0), "type"],
      [new Map(), "type"],
      [sparse, "type"],
      [{ toJSON: () => 1 }, "type"],
      [circle, "depth"],
      [new Uint8Array(1), "type"]
    ]
    for (const [value, reason] of cases) expect(reasonOf(() => canonicalize(value))).toBe(reason)
  })

  it("ignores a list's own toJSON", () => {
    expect(canonicalize(Object.assign([2, 1], { toJSON: () => "lie" }))).toBe("[2,1]")
  })

  it("writes negative zero as zero, and null prototypes as objects", () => {
    expect(canonicalize([-0, Object.assign(Object.create(null) as object, { b: 1, a: 2 })])).toBe('[0,{"a":2,"b":1}]')
  })

  it("reads back as the same value and writes the same bytes", () => {
    const value = { b: [1, "é", null, true, { c: 1e21, a: -1.5 }], a: "\u0001" }
    expect(JSON.parse(fromUtf8(canonicalBytes(value))!)).toEqual(value)
    expect(canonicalBytes(JSON.parse(canonicalize(value)))).toEqual(canonicalBytes(value))
  })
})

describe("the canonical writer in slices", () => {
  const slicesOf = (value: unknown, maxLength = Number.POSITIVE_INFINITY, maxDepth = 64) => {
    const work = canonicalizeInSlices(value, maxDepth, maxLength)
    for (let slices = 1; ; slices++) {
      const { done, value } = work.next()
      if (done === true) return { slices, text: value }
    }
  }
  const reasonInSlices = (value: unknown, maxLength?: number, maxDepth?: number): string => {
    try {
      slicesOf(value, maxLength, maxDepth)
      return "none"
    } catch (error) {
      return error instanceof NotCanonical ? error.reason : String(error)
    }
  }
  const members = (count: number, value: unknown = 1) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${(index * 7_919) % count}`, value]))

  it("writes what it writes in one go, a few thousand values at a time", () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => ({ b: index, a: ["é\n", null, { c: -0 }] }))
    for (const value of [
      members(50_000),
      rows,
      { x: rows, "\u20ac": members(9_000, []), deep: [[[members(9_000)]]] },
      Array.from({ length: 50_000 }, () => ({}))
    ]) {
      const { slices, text } = slicesOf(value)
      expect(text).toBe(canonicalize(value))
      expect(slices).toBeGreaterThan(text.split(",").length / 4_100)
    }
  })

  it("writes a small value in one slice", () => {
    for (const value of [1, "x".repeat(1_000_000), { b: 1, a: [2] }, Array.from({ length: 2_048 }, () => 1)])
      expect(slicesOf(value)).toEqual({ slices: 1, text: canonicalize(value) })
    expect(slicesOf(Array.from({ length: 2_049 }, () => 1)).slices).toBeGreaterThan(1)
  })

  it("refuses what it refuses in one go, wherever it stands", () => {
    const circle: Array<unknown> = Array.from({ length: 5_000 }, () => 1)
    circle.push(circle)
    for (const [value, reason] of [
      [Number.NaN, "number"],
      ["\ud800", "surrogate"],
      [undefined, "type"],
      [new Date(0), "type"],
      [circle, "depth"]
    ] as const) {
      expect(reasonInSlices([...Array.from({ length: 5_000 }, () => 1), value])).toBe(reason)
      expect(reasonInSlices({ ...members(5_000), last: [value] })).toBe(reason)
    }
    expect(reasonInSlices({ ...members(5_000), "\udc00": 1 })).toBe("surrogate")
    expect(reasonInSlices([members(5_000)], undefined, 1)).toBe("depth")
  })

  it("ends as soon as the text is too long", () => {
    const value = members(5_000, "xxxx")
    const { length } = canonicalize(value)
    expect(reasonInSlices(value, length)).toBe("none")
    expect(reasonInSlices(value, length - 1)).toBe("size")
    expect(reasonInSlices(members(100_000), 400_000)).toBe("size")
  })
})
