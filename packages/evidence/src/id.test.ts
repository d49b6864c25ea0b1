import { describe, expect, it } from "vitest"
import { decisionId, decodeId, encodeId, parseDecisionId } from "./id.ts"

const letters = "0123456789abcdefghjkmnpqrstvwxyz"

describe("identifiers", () => {
  it("are the 128-bit number in base 32", () => {
    for (let seed = 0; seed < 300; seed++) {
      const bytes = Uint8Array.from({ length: 16 }, (_, i) => (seed * 193 + i * i * 89) & 255)
      let number = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n)
      let text = ""
      for (let i = 0; i < 26; i++, number >>= 5n) text = letters[Number(number & 31n)] + text
      expect(encodeId("agt_", bytes)).toBe(`agt_${text}`)
      expect(decodeId("agt_", `agt_${text}`)).toEqual(bytes)
    }
  })

  it("span the whole range", () => {
    expect(encodeId("x_", new Uint8Array(16))).toBe(`x_${"0".repeat(26)}`)
    expect(encodeId("x_", new Uint8Array(16).fill(255))).toBe(`x_7${"z".repeat(25)}`)
  })

  it.each([
    "agt_",
    `agt_8${"0".repeat(25)}`,
    `agt_${"0".repeat(25)}`,
    `agt_${"0".repeat(27)}`,
    `agt_0${"i".repeat(25)}`,
    `agt_0${"A".repeat(25)}`,
    `usr_${"0".repeat(26)}`
  ])("of another form read as none: %s", (text) => {
    expect(decodeId("agt_", text)).toBeNull()
  })

  it("refuse another number of bytes", () => {
    expect(() => encodeId("x_", new Uint8Array(15))).toThrow(RangeError)
  })
})

describe("a decision's identifier", () => {
  const tag = Uint8Array.of(1, 2, 3, 255)

  it.each([
    [0, 0],
    [1_795_219_200_123, 7],
    [2 ** 48 - 1, 2 ** 48 - 1],
    [2 ** 32, 2 ** 33 + 1]
  ])("says time %d and seq %d", (atMs, seq) => {
    expect(parseDecisionId(decisionId(atMs, seq, tag))).toEqual({ atMs, seq, originTag: tag })
  })

  it("sorts by time, then by seq", () => {
    const ids = [
      decisionId(5, 9, tag),
      decisionId(6, 0, tag),
      decisionId(6, 1, tag),
      decisionId(1_795_219_200_000, 0, tag)
    ]
    expect(ids.toSorted()).toEqual(ids)
  })

  it("holds 48 bits of each", () => {
    for (const [atMs, seq, originTag] of [
      [-1, 0, tag],
      [2 ** 48, 0, tag],
      [0, 2 ** 48, tag],
      [0.5, 0, tag],
      [0, 0, tag.subarray(1)]
    ] as const) {
      expect(() => decisionId(atMs, seq, originTag)).toThrow(RangeError)
    }
    expect(parseDecisionId(`agt_${"0".repeat(26)}`)).toBeNull()
  })
})
