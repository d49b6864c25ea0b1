/** The content of a pack file, whatever it is compressed with. Spec: format 1 sections 5 and 6. */
import type { Transform } from "node:stream"
import zlib, { createInflateRaw } from "node:zlib"
import { releaseBytes } from "../bytes.ts"
import { type ByteSource, PackFileUnusable } from "../pack/byte-source.ts"
import { type Compression, damagedStream, followedStream, guardExpansion } from "../pack/compression.ts"
import { zstdFrameEnd } from "../pack/zstd-frame.ts"
import { GZIP_TRAILER_BYTES, gzipBodyStart, GzipContent } from "./gzip-member.ts"

/**
 * The content of a source, decompressed where it needs it. Can be read again. A chunk is valid until the next one is
 * requested.
 *
 * Throws `Unreadable`: `E_FORMAT` for a stream that is damaged, cut off, or followed by anything; `E_LIMIT` for a bomb.
 * Spec: format 1 section 5.
 */
export const packContent = (source: ByteSource, compression: Compression): AsyncIterable<Uint8Array> => {
  if (compression === "none") return source.chunks(0)
  return guardExpansion(source.size, compression === "gzip" ? gunzip(source) : unzstd(source))
}

async function* gunzip(source: ByteSource): AsyncGenerator<Uint8Array> {
  const start = await gzipBodyStart(source)
  if (start === null) throw damagedStream("gzip")
  const inflate = createInflateRaw(OUTPUT)
  const content = new GzipContent()
  for await (const chunk of through(source.chunks(start), inflate, "gzip")) {
    content.update(chunk)
    yield chunk
  }
  const end = start + inflate.bytesWritten
  if (!content.matches(await source.read(end, GZIP_TRAILER_BYTES))) throw damagedStream("gzip")
  if (end + GZIP_TRAILER_BYTES !== source.size) throw followedStream("gzip", source.size - end - GZIP_TRAILER_BYTES)
}

async function* unzstd(source: ByteSource): AsyncGenerator<Uint8Array> {
  const end = await zstdFrameEnd(source)
  if (end === null) throw damagedStream("zstd")
  if (end !== source.size) throw followedStream("zstd", source.size - end)
  // Node 20 has no zstd. A named import would end the process with status 1, which means tampering.
  if (zlib.createZstdDecompress === undefined)
    throw new PackFileUnusable(
      `This is Node ${process.versions.node}, which cannot read zstd (22.15 and newer can). ` +
        "Decompress the file first (zstd -d PACK.evp.zst), or verify with a newer Node."
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
    if (typeof code === "string" && (code.startsWith("Z_") || code.startsWith("ZSTD_"))) throw damagedStream(name)
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

/** With a mark of one byte a write is done when its output was taken. */
const OUTPUT = { chunkSize: 64 * 1024, readableHighWaterMark: 1 }
