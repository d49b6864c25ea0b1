/** How a pack file may be compressed, and how large its content may become. Spec: format 1 sections 5 and 6. */
import { Unreadable } from "./unreadable.ts"
import type { ByteSource } from "./byte-source.ts"

/**
 * Unit: bytes. Content may always decompress to this size, for a file of any size. Spec: format 1 section 5, "Limits of
 * a reader".
 */
export const MAX_FREE_CONTENT_BYTES = 64 * 1024 * 1024
/**
 * Beyond that, content may be this many times its file. Records compress 5 to 20 times; a bomb 1,000 times and more.
 * Spec: format 1 section 5, "Limits of a reader".
 */
export const MAX_EXPANSION = 200

/** How a file is compressed, by its first bytes; its name says nothing. */
export type Compression = "none" | "gzip" | "zstd"

/** The compression of a source. Spec: format 1 section 5. */
export const detectCompression = async (source: ByteSource): Promise<Compression> => {
  const [a, b, c, d] = await source.read(0, 4)
  if (a === 0x1f && b === 0x8b) return "gzip"
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? "zstd" : "none"
}

/** The same content. Throws `Unreadable` with `E_LIMIT` where it grows larger than a file of that size may. */
export async function* guardExpansion(
  fileBytes: number,
  content: AsyncIterable<Uint8Array>
): AsyncGenerator<Uint8Array> {
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

/** The fault of a stream that is damaged or cut off. */
export const damagedStream = (name: string): Unreadable =>
  new Unreadable("E_FORMAT", `a whole ${name} stream`, "a stream that is damaged or cut off")

/** The fault of a stream with something behind it. `bytes`: how much. */
export const followedStream = (name: string, bytes: number): Unreadable =>
  new Unreadable(
    "E_FORMAT",
    `nothing after the ${name} stream`,
    bytes > 0 ? `${bytes} bytes` : "a stream that is cut off"
  )
