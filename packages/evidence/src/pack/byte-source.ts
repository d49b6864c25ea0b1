/** Where the bytes of a pack come from. Read by position, so that a compressed stream's end can be checked. */

/** Something of known size that can be read at any position, more than once. */
export interface ByteSource {
  readonly size: number
  /** Up to `length` bytes from `at`; fewer only at the end. The array is fresh. */
  readonly read: (at: number, length: number) => Promise<Uint8Array<ArrayBuffer>>
  /** All bytes from `at` on. A chunk is valid until the next one is requested. */
  readonly chunks: (at: number) => AsyncIterable<Uint8Array>
}

/** The file cannot be verified as it stands: no plain file, or written to meanwhile. It says nothing about a pack. */
export class PackFileUnusable extends Error {
  override readonly name = "PackFileUnusable"
}

/**
 * Bytes of one read: large enough that reads cost nothing, small enough to stay in the cache while they are hashed and
 * scanned.
 */
export const CHUNK_BYTES = 256 * 1024

/** Bytes in memory as a source. */
export const bytesSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (at, length) => Uint8Array.from(bytes.subarray(at, at + length)),
  chunks: async function* (at) {
    for (let from = at; from < bytes.length; from += CHUNK_BYTES) yield bytes.subarray(from, from + CHUNK_BYTES)
  }
})
