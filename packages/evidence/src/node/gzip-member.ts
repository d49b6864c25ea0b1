/** The frame of a gzip member around its deflate stream. Spec: RFC 1952. */
import zlib from "node:zlib"
import type { ByteSource } from "../pack/byte-source.ts"

/** Bytes after the deflate stream: checksum and length of the content. */
export const GZIP_TRAILER_BYTES = 8

/** Position where the deflate stream starts, or null when the header is malformed, cut off or longer than 64 KiB. */
export const gzipBodyStart = async (source: ByteSource): Promise<number | null> => {
  const head = await source.read(0, MAX_HEADER_BYTES)
  const flags = head[3]
  if (flags === undefined || head[2] !== DEFLATE || (flags & RESERVED_FLAGS) !== 0) return null
  let at = 10
  if ((flags & EXTRA) !== 0) at += 2 + ((head[at] ?? 0) | ((head[at + 1] ?? 0) << 8))
  for (const flag of [NAME, COMMENT]) {
    if ((flags & flag) === 0) continue
    const end = head.indexOf(0, at)
    if (end < 0) return null
    at = end + 1
  }
  if ((flags & HEADER_CHECKSUM) !== 0) at += 2
  return at <= head.length ? at : null
}

/** Running check value of a member's content. */
export class GzipContent {
  #checksum = 0
  #length = 0

  update(chunk: Uint8Array): void {
    this.#checksum = zlib.crc32(chunk, this.#checksum)
    this.#length += chunk.length
  }

  /** True when this trailer belongs to the content. */
  matches(trailer: Uint8Array): boolean {
    if (trailer.length !== GZIP_TRAILER_BYTES) return false
    const view = new DataView(trailer.buffer, trailer.byteOffset)
    return view.getUint32(0, true) === this.#checksum && view.getUint32(4, true) === this.#length % 2 ** 32
  }
}

const MAX_HEADER_BYTES = 64 * 1024
const DEFLATE = 8
const HEADER_CHECKSUM = 0x02
const EXTRA = 0x04
const NAME = 0x08
const COMMENT = 0x10
const RESERVED_FLAGS = 0xe0
