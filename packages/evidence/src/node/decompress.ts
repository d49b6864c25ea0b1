/** The content of a pack file, whatever it is compressed with. Spec: format 1 sections 5 and 6. */
import type { Transform } from "node:stream"
import zlib, { createInflateRaw } from "node:zlib"
import { releaseBytes } from "../bytes.ts"
import { Unreadable } from "../verify/findings.ts"
import { GZIP_TRAILER_BYTES, gzipBodyStart, GzipContent } from "./gzip-member.ts"
import { type ByteSource, PackFileUnusable } from "./pack-source.ts"
import { zstdFrameEnd } from "./zstd-frame.ts"

/** Content may grow to this, however small its file. */
export const MAX_FREE_CONTENT_BYTES = 64 * 1024 * 1024
/**
 * Beyond that, content may be this many times its file. Records compress 5 to 20 times; a bomb 1,000 times and more.
 */
export const MAX_EXPANSION = 200

/** How a file is compressed, by its first bytes; its name says nothing. */
export type Compression = "none" | "gzip" | "zstd"

/** The compression of a source. */
export const detectCompression = async (source: ByteSource): Promise<Compression> => {
  const [a, b, c, d] = await source.read(0, 4)
  if (a === 0x1f && b === 0x8b) return "gzip"
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? "zstd" : "none"
}

/**
 * The content of a source, decompressed where it needs it. Can be read again. A chunk is valid until the next one is
 * requested.
 *
 * Throws `Unreadable`: `E_FORMAT` for a stream that is damaged, cut off, or followed by anything; `E_LIMIT` for a bomb.
 */
export const packContent = (source: ByteSource, compression: Compression): AsyncIterable<Uint8Array> => {
  if (compression === "none") return source.chunks(0)
  return guardExpansion(source.size, compression === "gzip" ? gunzip(source) : unzstd(source))
}

async function* gunzip(source: ByteSource): AsyncGenerator<Uint8Array> {
  const start = await gzipBodyStart(source)
  if (start === null) throw damaged("gzip")
  const inflate = createInflateRaw(OUTPUT)
  const content = new GzipContent()
  for await (const chunk of through(source.chunks(start), inflate, "gzip")) {
    content.update(chunk)
    yield chunk
  }
  const end = start + inflate.bytesWritten
  if (!content.matches(await source.read(end, GZIP_TRAILER_BYTES))) throw damaged("gzip")
  if (end + GZIP_TRAILER_BYTES !== source.size) throw followed("gzip", source.size - end - GZIP_TRAILER_BYTES)
}

async function* unzstd(source: ByteSource): AsyncGenerator<Uint8Array> {
  const end = await zstdFrameEnd(source)
  if (end === null) throw damaged("zstd")
  if (end !== source.size) throw followed("zstd", source.size - end)
  // Node 20 has no zstd. A named import would end the process with status 1, which means tampering.
  if (zlib.createZstdDecompress === undefined)
    throw new PackFileUnusable(
      `This is Node ${process.versions.node}, which cannot read zstd (22.15 and newer can). Decompress the file first ` +
        "(zstd -d PACK.evp.zst), or verify with a newer Node."
    )
  yield* through(source.chunks(0), zlib.createZstdDecompress(OUTPUT), "zstd")
}

/** The output of a decoder. A chunk is valid until the next one is requested. */
async function* through(
  input: AsyncIterable<Uint8Array>,
  decoder: Transform,
  name: string
): AsyncGenerator<Uint8Array> {
  const fed = feed(input, decoder).catch((cause: Error) => void decoder.destroy(cause))
  try {
    for await (const chunk of decoder) {
      yield chunk as Uint8Array
      // Until the collector comes by itself there would be tens of megabytes of them.
      releaseBytes(chunk as Uint8Array<ArrayBuffer>)
    }
  } catch (cause) {
    const code = (cause as { readonly code?: unknown }).code
    // Anything else is a fault of the disk, not of the pack.
    if (typeof code === "string" && (code.startsWith("Z_") || code.startsWith("ZSTD_"))) throw damaged(name)
    throw cause
  } finally {
    decoder.destroy()
    await fed
  }
}

/**
 * Gives a decoder one chunk at a time, and the end only when all output before it was taken. A fault throws away
 * whatever output nobody has
 * taken yet: if the decoder ran ahead, the line that a report names would depend on who was faster.
 */
const feed = async (input: AsyncIterable<Uint8Array>, decoder: Transform): Promise<void> => {
  const closed = new Promise<void>((resolve) => decoder.once("close", resolve))
  for await (const chunk of input) {
    await Promise.race([closed, new Promise<void>((resolve) => decoder.write(chunk, () => resolve()))])
    if (decoder.destroyed) return
  }
  decoder.end()
}

async function* guardExpansion(fileBytes: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const limit = Math.max(MAX_FREE_CONTENT_BYTES, MAX_EXPANSION * fileBytes)
  let total = 0
  for await (const chunk of content) {
    total += chunk.length
    if (total > limit) {
      throw new Unreadable(
        "E_LIMIT",
        `content of at most ${MAX_FREE_CONTENT_BYTES} bytes or ${MAX_EXPANSION} times the file`,
        `more than ${limit} bytes from a file of ${fileBytes}`
      )
    }
    yield chunk
  }
}

/** With a mark of one byte a write is done when its output was taken. */
const OUTPUT = { chunkSize: 64 * 1024, readableHighWaterMark: 1 }

const damaged = (name: string): Unreadable =>
  new Unreadable("E_FORMAT", `a whole ${name} stream`, "a stream that is damaged or cut off")

const followed = (name: string, bytes: number): Unreadable =>
  new Unreadable(
    "E_FORMAT",
    `nothing after the ${name} stream`,
    bytes > 0 ? `${bytes} bytes` : "a stream that is cut off"
  )
