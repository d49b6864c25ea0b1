import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { MAX_LINE_BYTES, traceLines, TraceUnreadable } from "./lines.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-lines-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = async (content: Uint8Array | string): Promise<ReadonlyArray<readonly [number, string]>> => {
  const file = join(folder, "trace")
  writeFileSync(file, content)
  const lines: Array<readonly [number, string]> = []
  for await (const { bytes, number } of traceLines(file)) lines.push([number, Buffer.from(bytes).toString()])
  return lines
}

describe("lines of a trace", () => {
  it("end with LF, CRLF or the file, and blank ones only count", async () => {
    assert.deepEqual(await read("a\nb\r\n\n \t\r\nc"), [
      [1, "a"],
      [2, "b"],
      [5, "c"]
    ])
    assert.deepEqual(await read("a\n"), [[1, "a"]])
    assert.deepEqual(await read(""), [])
  })
  it("lose a byte order mark at the start of the file, and nowhere else", async () => {
    assert.deepEqual(await read("\ufeffa\n\ufeffb\n"), [
      [1, "a"],
      [2, "\ufeffb"]
    ])
    assert.deepEqual(await read("\ufeff"), [])
  })
  it("are not split at U+2028, which JSON allows inside a text", async () =>
    assert.deepEqual(await read("a\u2028b\n"), [[1, "a\u2028b"]]))
  it("are whole when they span what is read at once", async () => {
    const long = "x".repeat(200_000)
    assert.deepEqual(await read(`${long}\n${long}y\nz`), [
      [1, long],
      [2, `${long}y`],
      [3, "z"]
    ])
  })
  it("are unpacked when the first bytes say gzip, whatever the name", async () => {
    assert.deepEqual(await read(gzipSync("a\nb\n")), [
      [1, "a"],
      [2, "b"]
    ])
    assert.deepEqual(await read(Buffer.concat([gzipSync("a\n"), gzipSync("b\n")])), [
      [1, "a"],
      [2, "b"]
    ])
  })
  it("of a truncated or damaged gzip end with a sentence", async () => {
    const packed = gzipSync(Array.from({ length: 5_000 }, (_, index) => `line ${index * 7919}`).join("\n"))
    const damaged = Buffer.from(packed)
    damaged[packed.length >> 1]! ^= 0xff
    for (const bad of [packed.subarray(0, packed.length >> 1), damaged]) {
      const cause = await read(bad).then(
        () => null,
        (error: unknown) => error
      )
      assert.instanceOf(cause, TraceUnreadable)
      assert.match((cause as Error).message, /gzip/)
    }
  })
  it("have a longest length, so that memory does not grow with a file that is no trace", async () => {
    const cause = await read(Buffer.alloc(MAX_LINE_BYTES + 100_000, "x")).then(
      () => null,
      (error: unknown) => error
    )
    assert.instanceOf(cause, TraceUnreadable)
  })
})
