/** Compressed packs: found by their first bytes, whole or refused, and never larger than they may be. */
import { describe, expect, it } from "vitest"
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { Unreadable } from "../pack/unreadable.ts"
import { compress, compressionFor } from "./compress.ts"
import { bytesSource } from "../pack/byte-source.ts"
import { detectCompression } from "../pack/compression.ts"
import { packContent } from "./decompress.ts"

const content = Buffer.from("a line of some pack\n".repeat(40_000))
const forms = { gzip: gzipSync(content), zstd: zstdCompressSync(content) }

const read = async (bytes: Uint8Array): Promise<Buffer> => {
  const source = bytesSource(bytes)
  const chunks: Array<Uint8Array> = []
  for await (const chunk of packContent(source, await detectCompression(source))) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}

const refusal = async (bytes: Uint8Array): Promise<string> => {
  try {
    await read(bytes)
    return "read"
  } catch (cause) {
    if (cause instanceof Unreadable) return cause.code
    throw cause
  }
}

describe("a compressed pack", () => {
  for (const [name, bytes] of Object.entries(forms)) {
    it(`${name} is read whole`, async () => {
      expect(await detectCompression(bytesSource(bytes))).toBe(name)
      expect(content.equals(await read(bytes))).toBe(true)
    })

    it(`${name} with anything behind it is E_FORMAT`, async () => {
      for (const rest of [
        Buffer.of(0),
        Buffer.from("evidence"),
        bytes,
        forms.gzip,
        forms.zstd,
        Buffer.alloc(600_000)
      ]) {
        expect(await refusal(Buffer.concat([bytes, rest]))).toBe("E_FORMAT")
      }
    })

    it(`${name} that is cut off or damaged is E_FORMAT`, async () => {
      for (const length of [4, 5, 10, 20, bytes.length - 9, bytes.length - 4, bytes.length - 1])
        expect(await refusal(bytes.subarray(0, length)), `${length} bytes`).toBe("E_FORMAT")
      const damaged = Buffer.from(bytes)
      damaged[damaged.length - 6]! ^= 0xff
      expect(await refusal(damaged)).toBe("E_FORMAT")
    })
  }

  it("with every flag of gzip's header is read", async () => {
    const header = Buffer.concat([
      Buffer.of(0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 255),
      Buffer.of(3, 0, 1, 2, 3),
      Buffer.from("name\0comment\0"),
      Buffer.of(0, 0)
    ])
    expect(content.equals(await read(Buffer.concat([header, forms.gzip.subarray(10)])))).toBe(true)
  })

  it("that is none is taken as it is", async () => {
    expect(await detectCompression(bytesSource(content))).toBe("none")
    expect(content.equals(await read(content))).toBe(true)
    expect((await read(new Uint8Array(0))).length).toBe(0)
  })

  it("that passes 64 MiB and 200 times its file is E_LIMIT; less is not", async () => {
    const zeros = Buffer.alloc(64 * 1024 * 1024)
    for (const make of [gzipSync, zstdCompressSync]) {
      expect((await read(make(zeros))).length).toBe(zeros.length)
      expect(await refusal(make(Buffer.concat([zeros, Buffer.of(0)])))).toBe("E_LIMIT")
    }
    // 400,000 bytes that do not compress earn 80 MB of content.
    let state = 1
    const noise = Buffer.from(
      Array.from({ length: 400_000 }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24)
    )
    expect((await read(gzipSync(Buffer.concat([noise, zeros])))).length).toBe(noise.length + zeros.length)
  })
})

describe("compressing", () => {
  const made = async (name: string, size = 100_000): Promise<Buffer> => {
    const chunks = Array.from({ length: Math.ceil(content.length / size) }, (_, i) =>
      content.subarray(i * size, (i + 1) * size)
    )
    const out: Array<Uint8Array> = []
    for await (const chunk of compress(chunks, compressionFor(name))) out.push(chunk)
    return Buffer.concat(out)
  }

  it("makes one stream, however the content comes", async () => {
    for (const size of [997, 65_536, 100_000, content.length]) {
      for (const name of ["a.evp.gz", "a.evp.zst"])
        expect(content.equals(await read(await made(name, size))), `${name} by ${size}`).toBe(true)
    }
  })

  it("passes a fault of the content on", async () => {
    const failing = async function* () {
      yield content
      throw new Error("the disk")
    }
    for (const name of ["gzip", "zstd", "none"] as const) {
      await expect(async () => {
        for await (const chunk of compress(failing(), name)) void chunk
      }).rejects.toThrow("the disk")
    }
  })

  it("gives what others can read, and the same bytes each time", async () => {
    expect(content.equals(gunzipSync(await made("a.evp.gz")))).toBe(true)
    expect(content.equals(zstdDecompressSync(await made("a.evp.zst")))).toBe(true)
    expect(content.equals(await made("a.evp"))).toBe(true)
    expect((await made("a.evp.gz")).equals(await made("b.evp.gz"))).toBe(true)
  })
})
