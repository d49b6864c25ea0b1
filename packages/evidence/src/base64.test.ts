/** The reader of base64 in place takes what the reader of texts takes, and nothing else. */
import { describe, expect, it } from "vitest"
import { base64Length, decodeBase64 } from "./base64.ts"
import { fromBase64, toBase64, utf8 } from "./bytes.ts"

/** What stands in a line: text, then a byte that is no digit, then the end of what may be looked at, then more. */
const read = (text: string, behind: string, limited: boolean): Uint8Array | null => {
  const bytes = utf8(`xx${text}${behind}AAAAAAAA`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const out = new Uint8Array(2 + bytes.length)
  const stop = 2 + utf8(text).length
  const end = decodeBase64(view, 2, limited ? stop : bytes.length, new DataView(out.buffer), 2)
  // Where reading stopped nothing is left over, unless it stopped behind padding.
  if (end >= 0 && end < stop && text[end - 3] !== "=")
    expect(String.fromCharCode(bytes[end]!)).not.toMatch(/[A-Za-z0-9+/]/)
  return end === stop ? out.slice(2, 2 + base64Length(view, 2, end)) : null
}

const bothRead = (text: string): void => {
  const expected = fromBase64(text)
  for (const behind of ["\n", " ", "\n="])
    for (const limited of [true, false]) expect([text, read(text, behind, limited)]).toEqual([text, expected])
}

describe("base64 in place", () => {
  it("is read as texts are, at every length", () => {
    for (let length = 0; length < 70; length++)
      bothRead(toBase64(Uint8Array.from({ length }, (_, i) => (i * 89 + length * 31) % 256)))
  })

  it("is refused where texts are, whatever one byte is changed to", () => {
    for (const length of [1, 2, 3, 7, 11, 32]) {
      const text = toBase64(Uint8Array.from({ length }, (_, i) => 255 - ((i * 7) % 256)))
      for (let place = 0; place < text.length; place++) {
        for (let code = 0x21; code < 0x7f; code++)
          bothRead(text.slice(0, place) + String.fromCharCode(code) + text.slice(place + 1))
      }
    }
  })

  it.each([
    "=",
    "==",
    "===",
    "====",
    "A",
    "AA",
    "AAA",
    "A=",
    "A==",
    "A===",
    "AA=",
    "AAA==",
    "AA=A",
    "AAAA=",
    "AAAA====",
    "AA==AA==",
    "AAA=AAAA",
    "AA==A",
    "QUJD\u00e9\u00e9",
    "\u00e9\u00e9"
  ])("%s is what it is as a text", bothRead)
})
