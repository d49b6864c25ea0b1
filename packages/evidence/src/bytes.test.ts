import { describe, expect, it } from "vitest"
import { concatBytes, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from "./bytes.ts"

const some = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 151 + length) & 255)

describe("hex", () => {
  it("decodes what it encodes", () => {
    for (let length = 0; length < 40; length++) {
      expect(toHex(some(length))).toBe(Buffer.from(some(length)).toString("hex"))
      expect(fromHex(toHex(some(length)))).toEqual(some(length))
    }
  })

  it.each(["0", "0G", "AB", "0x", " 0", "00 ", "é0", "Ā0"])("refuses %j", (text) => {
    expect(fromHex(text)).toBeNull()
  })
})

describe("base64", () => {
  it("encodes and decodes the vectors of RFC 4648", () => {
    for (let length = 0; length < 100; length++) {
      expect(toBase64(some(length))).toBe(Buffer.from(some(length)).toString("base64"))
      expect(fromBase64(toBase64(some(length)))).toEqual(some(length))
    }
  })

  it.each([
    "A",
    "AA",
    "AAA",
    "A===",
    "AA=A",
    "=AAA",
    "AAAA=",
    "AA==AA==",
    "AB==",
    "AAB=",
    "A A=",
    "AAA\n",
    "AA-_",
    "AA=",
    "AĀ=="
  ])("refuses %j, which is not the one form of anything", (text) => {
    expect(fromBase64(text)).toBeNull()
  })

  it("accepts exactly the texts that encode to themselves", () => {
    const letters = "AB+/9=_ "
    for (const a of letters) {
      for (const b of letters) {
        for (const c of letters) {
          for (const d of letters) {
            const text = a + b + c + d
            const strict = Buffer.from(text, "base64").toString("base64") === text
            expect([text, fromBase64(text) !== null]).toEqual([text, strict])
          }
        }
      }
    }
  })
})

describe("bytes", () => {
  it("are joined and compared", () => {
    expect(concatBytes(some(3), some(0), some(2))).toEqual(Uint8Array.of(...some(3), ...some(2)))
    expect(equalBytes(some(5), some(5))).toBe(true)
    expect(equalBytes(some(5), some(6))).toBe(false)
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false)
  })
})

describe("UTF-8", () => {
  it("keeps a byte-order mark, and refuses what is not well-formed", () => {
    expect(fromUtf8(utf8("\ufeffé€😂"))).toBe("\ufeffé€😂")
    for (const bytes of [[0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]])
      expect(fromUtf8(Uint8Array.from(bytes))).toBeNull()
  })
})
