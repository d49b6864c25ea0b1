/** Lines out of chunks: every way of cutting gives the same lines and the same digest. */
import { describe, expect, it } from "vitest"
import { toHex, utf8 } from "../bytes.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { LineReader } from "./line-reader.ts"

const text = "first\n\nthird line\nZ\nbehind\nlast without end"

/** The lines of a text in chunks of a size, read through one array that is used again, as a file is. */
const linesOf = (
  size: number,
  limit = 1000
): {
  readonly lines: ReadonlyArray<string>
  readonly digest: string
  readonly tooLong: boolean
  readonly unfinished: boolean
} => {
  const reader = new LineReader(nodeCrypto, limit)
  const bytes = utf8(text)
  const chunk = new Uint8Array(size)
  const lines: Array<string> = []
  let digest = ""
  for (let at = 0; at < bytes.length && !reader.tooLong; at += size) {
    const part = bytes.subarray(at, at + size)
    chunk.set(part)
    reader.feed(chunk.subarray(0, part.length))
    while (reader.next()) {
      const line = new TextDecoder().decode(reader.bytes.subarray(reader.start, reader.end))
      if (line === "Z") digest = toHex(reader.digestBefore())
      lines.push(`${reader.line} ${line}`)
    }
  }
  return { lines, digest, tooLong: reader.tooLong, unfinished: reader.unfinished }
}

describe("the line reader", () => {
  it("gives the same lines and digest however the bytes are cut", () => {
    const digest = toHex(nodeCrypto.sha256(utf8("first\n\nthird line\n")))
    for (let size = 1; size <= text.length + 1; size++) {
      expect(linesOf(size)).toEqual({
        lines: ["1 first", "2 ", "3 third line", "4 Z", "5 behind"],
        digest,
        tooLong: false,
        unfinished: true
      })
    }
  })

  it("stops at a line over its limit, wherever the chunks end", () => {
    for (let size = 1; size <= text.length + 1; size++) {
      expect(linesOf(size, 10)).toMatchObject({
        lines: ["1 first", "2 ", "3 third line", "4 Z", "5 behind"],
        tooLong: true
      })
      expect(linesOf(size, 9)).toMatchObject({ lines: ["1 first", "2 "], tooLong: true })
    }
  })

  it("holds no more than its limit of a line that never ends", () => {
    const reader = new LineReader(nodeCrypto, 100_000)
    const chunk = new Uint8Array(65_536).fill(0x5b)
    reader.feed(chunk)
    expect([reader.next(), reader.tooLong]).toEqual([false, false])
    reader.feed(chunk)
    expect([reader.next(), reader.tooLong]).toEqual([false, true])
  })
})
