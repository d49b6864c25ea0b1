/** Compressing a pack while it is written. */
import type { Transform } from "node:stream"
import { createGzip, createZstdCompress } from "node:zlib"
import type { Compression } from "../pack/compression.ts"

/** The compression that a file name asks for: `.evp.gz`, `.evp.zst`, anything else none. */
export const compressionFor = (name: string): Compression =>
  name.endsWith(".gz") ? "gzip" : name.endsWith(".zst") ? "zstd" : "none"

/**
 * The content as one gzip member or one zstd frame. gzip carries no time and no name, so equal content gives equal
 * bytes.
 */
export const compress = (
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  compression: Compression
): AsyncIterable<Uint8Array> =>
  compression === "none"
    ? unchanged(content)
    : through(content, compression === "gzip" ? createGzip() : createZstdCompress())

async function* unchanged(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* content
}

/**
 * Writes each chunk after the one before was taken in, and the end after the last. Node's zstd encoder closes its frame
 * twice when the end meets a chunk that is still waiting; the second, empty frame would be bytes behind the stream,
 * which a pack must not have.
 */
async function* through(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  encoder: Transform
): AsyncGenerator<Uint8Array> {
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of content) {
        await new Promise<void>((resolve, reject) => {
          encoder.write(chunk, (cause) => (cause === null || cause === undefined ? resolve() : reject(cause)))
        })
      }
      encoder.end()
    } catch (cause) {
      encoder.destroy(cause as Error)
    }
  }
  const feeding = feed()
  try {
    for await (const chunk of encoder) yield chunk as Uint8Array
    await feeding
  } finally {
    encoder.destroy()
  }
}
