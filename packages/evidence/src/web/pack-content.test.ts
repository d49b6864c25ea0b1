/** Packs as a browser reads them: the same content and the same refusals as by Node's decoders. */
import { describe, expect, it } from "vitest"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { PackFileUnusable } from "../pack/byte-source.ts"
import { type Compression, detectCompression } from "../pack/compression.ts"
import { Unreadable } from "../pack/unreadable.ts"
import { blobSource } from "./blob-source.ts"
import { packContent } from "./pack-content.ts"

const content = Buffer.from(
  Array.from({ length: 60_000 }, (_, i) => `line ${(i * 7919) % 60_013} of some pack\n`).join("")
)
const gzip = gzipSync(content)
const damagedGzip = Buffer.from(gzip)
damagedGzip[gzip.length - 6]! ^= 0xff

const read = async (bytes: Uint8Array, onRead?: (at: number) => void): Promise<Buffer> => {
  const source = blobSource(new Blob([Uint8Array.from(bytes)]), onRead)
  const chunks: Array<Uint8Array> = []
  for await (const chunk of packContent(source, await detectCompression(source))) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}

const refusal = (bytes: Uint8Array): Promise<string> =>
  read(bytes).then(
    () => "read",
    (cause: unknown) => (cause instanceof Unreadable ? cause.code : String(cause))
  )

describe("a pack in a browser", () => {
  it("is read as it is, in slices that report how far they are", async () => {
    const places: Array<number> = []
    expect(content.equals(await read(content, (at) => places.push(at)))).toBe(true)
    expect(places).toEqual([...places.keys()].map((i) => Math.min((i + 1) * 256 * 1024, content.length)))
    expect(places.at(-1)).toBe(content.length)
  })

  it("is read whole where it is compressed with gzip", async () => {
    expect(content.equals(await read(gzip))).toBe(true)
  })

  for (const [name, bytes] of [
    ["cut off in its header", gzip.subarray(0, 5)],
    ["cut off", gzip.subarray(0, gzip.length / 2)],
    ["cut off in its trailer", gzip.subarray(0, gzip.length - 3)],
    ["damaged", damagedGzip],
    ["followed by something", Buffer.concat([gzip, Buffer.from("x")])]
  ] as const)
    it(`that is ${name} is E_FORMAT`, async () => {
      expect(await refusal(bytes)).toBe("E_FORMAT")
    })

  it("that decompresses beyond the limit is E_LIMIT", async () => {
    expect(await refusal(gzipSync(Buffer.alloc(80 * 1024 * 1024)))).toBe("E_LIMIT")
  })

  it("of zstd that is cut off or followed by something is E_FORMAT in any browser", async () => {
    const zstd = zstdCompressSync(content)
    expect(await refusal(zstd.subarray(0, zstd.length - 1))).toBe("E_FORMAT")
    expect(await refusal(Buffer.concat([zstd, Buffer.of(0)]))).toBe("E_FORMAT")
  })

  it("of zstd is read, or refused in a sentence that says what to do", async () => {
    const found = await read(zstdCompressSync(content)).catch((cause: unknown) => cause)
    if (found instanceof Buffer) expect(content.equals(found)).toBe(true)
    else {
      expect(found).toBeInstanceOf(PackFileUnusable)
      expect(String(found)).toContain("zstd -d")
    }
  })

  it("fails with the browser's own error where the file cannot be read", async () => {
    const broken = Object.assign(new Error("NotReadableError"), { name: "NotReadableError" })
    for (const compression of ["none", "gzip"] as ReadonlyArray<Compression>) {
      const source = {
        size: gzip.length,
        read: async () => Uint8Array.from(gzip.subarray(0, 4)),
        chunks: async function* () {
          yield gzip.subarray(0, 1000)
          throw broken
        }
      }
      const reading = async () => {
        for await (const chunk of packContent(source, compression)) expect(chunk.length).toBeGreaterThan(0)
      }
      await expect(reading()).rejects.toBe(broken)
    }
  })
})
