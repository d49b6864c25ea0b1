/** The content of a pack file, decompressed by the browser. Spec: format 1 sections 5 and 6. */
import { type ByteSource, PackFileUnusable } from "../pack/byte-source.ts"
import { type Compression, damagedStream, followedStream, guardExpansion } from "../pack/compression.ts"
import { zstdFrameEnd } from "../pack/zstd-frame.ts"
import { Unreadable } from "../pack/unreadable.ts"

/**
 * The content of a source, decompressed where it needs it. Can be read again. A chunk is valid until the next one is
 * requested.
 *
 * - Fails: throws `Unreadable`, as the reader of `@flyball/evidence/node` does: `E_FORMAT` for a stream that is
 *   damaged, cut off, or followed by anything; `E_LIMIT` for a bomb. Throws `PackFileUnusable` where the browser cannot
 *   read zstd.
 * - Spec: format 1 section 5.
 */
export const packContent = (source: ByteSource, compression: Compression): AsyncIterable<Uint8Array> => {
  if (compression === "none") return source.chunks(0)
  return guardExpansion(source.size, compression === "gzip" ? gunzip(source) : unzstd(source))
}

const gunzip = (source: ByteSource): AsyncIterable<Uint8Array> =>
  through(
    source.chunks(0),
    new DecompressionStream("gzip"),
    () =>
      new Unreadable(
        "E_FORMAT",
        "one whole gzip stream and nothing after it",
        "a stream that is damaged, cut off, or followed by something"
      )
  )

async function* unzstd(source: ByteSource): AsyncGenerator<Uint8Array> {
  const end = await zstdFrameEnd(source)
  if (end === null) throw damagedStream("zstd")
  if (end !== source.size) throw followedStream("zstd", source.size - end)
  const decoder = zstdDecoder()
  if (decoder === null)
    throw new PackFileUnusable(
      "This browser cannot read zstd. Decompress the file first (zstd -d PACK.evp.zst), or use the command " +
        "flyball-verify."
    )
  yield* through(source.chunks(0), decoder, () => damagedStream("zstd"))
}

/** Null where the browser does not know the format: then its constructor throws. */
const zstdDecoder = (): DecompressionStream | null => {
  try {
    return new DecompressionStream("zstd" as CompressionFormat)
  } catch {
    return null
  }
}

/** The output of a decoder. A chunk is valid until the next one is requested. `damaged` makes the decoder's fault. */
async function* through(
  input: AsyncIterable<Uint8Array>,
  { readable, writable }: DecompressionStream,
  damaged: () => Unreadable
): AsyncGenerator<Uint8Array> {
  const reader = readable.getReader()
  let diskFault: { readonly cause: unknown } | null = null
  const fed = feed(input, writable.getWriter()).then((fault) => (diskFault = fault))
  try {
    for (;;) {
      const read = await reader.read().catch(async () => {
        await fed
        throw diskFault === null ? damaged() : diskFault.cause
      })
      if (read.done) return
      yield read.value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
    await fed
  }
}

/**
 * Gives a decoder one piece at a time, each when the output of the one before was taken. Answers why the input ended
 * early; null where it did not, or where the decoder failed, which its reader sees.
 */
const feed = async (
  input: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>
): Promise<{ readonly cause: unknown } | null> => {
  let isInput = true
  try {
    for await (const chunk of input) {
      isInput = false
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) await writer.write(chunk.slice(at, at + PIECE_BYTES))
      isInput = true
    }
    isInput = false
    await writer.close()
    return null
  } catch (cause) {
    if (!isInput) return null
    await writer.abort(cause).catch(() => undefined)
    return { cause }
  }
}

/** Most bytes that a decoder takes at once. All that comes of it lies in memory: of a bomb 1,000 times as much. */
const PIECE_BYTES = 16 * 1024
