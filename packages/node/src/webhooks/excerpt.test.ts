import { describe, expect, test } from "vitest"
import { EXCERPT_BYTES, excerptOf } from "./excerpt.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("the part of a body that is kept", () => {
  test("is text as it came, over any number of chunks", () => {
    expect(excerptOf(new Uint8Array())).toBe("")
    expect(excerptOf(Buffer.concat([bytes("not "), bytes("today\n\t\r")]))).toBe("not today\n\t\r")
    const euro = bytes("€")
    expect(excerptOf(Buffer.concat([euro.slice(0, 1), euro.slice(1)]))).toBe("€")
  })

  test("never holds a control character, and marks what is no text", () => {
    expect(excerptOf(Buffer.concat([Uint8Array.of(0x61, 0x00, 0x1b, 0x5b, 0x7f, 0xff, 0xc2, 0x85)]))).toBe(
      "a\ufffd\ufffd[\ufffd\ufffd\ufffd"
    )
    expect(excerptOf(Buffer.concat([bytes("€").slice(0, 2)]))).toBe("\ufffd")
  })

  test.each([
    ["ascii", "a"],
    ["three bytes", "€"],
    ["four bytes", "🂡"],
    ["an offset", "a€"]
  ])("has at most 4,096 bytes and no half character: %s", (_name, unit) => {
    const text = excerptOf(bytes(unit.repeat(5_000)))
    expect(bytes(text).length).toBeLessThanOrEqual(EXCERPT_BYTES)
    expect(bytes(text).length).toBeGreaterThan(EXCERPT_BYTES - 4)
    expect(unit.repeat(5_000).startsWith(text)).toBe(true)
  })

  test("has at most 4,096 bytes where each byte becomes three", () => {
    expect(bytes(excerptOf(Buffer.concat([new Uint8Array(5_000)]))).length).toBe(4_095)
  })
})
