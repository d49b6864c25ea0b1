/** A file that a person chose in a browser, as the source of a pack's bytes. */
import { type ByteSource, CHUNK_BYTES } from "../pack/byte-source.ts"

/**
 * A blob or file as a source. Memory holds one chunk of each reading.
 *
 * Read in slices and not as a stream: a slice has the same length in each browser, and a reading may begin anywhere.
 *
 * - Fails: a reading rejects with the browser's error, as for a file that changed since it was chosen.
 * - Unit: `onRead`, the position in the file that a reading has reached.
 */
export const blobSource = (blob: Blob, onRead: (at: number) => void = () => undefined): ByteSource => {
  const read = async (at: number, length: number): Promise<Uint8Array<ArrayBuffer>> =>
    new Uint8Array(await blob.slice(at, at + length).arrayBuffer())
  return {
    size: blob.size,
    read,
    chunks: async function* (at) {
      for (let from = at; from < blob.size; from += CHUNK_BYTES) {
        const chunk = await read(from, CHUNK_BYTES)
        onRead(from + chunk.length)
        yield chunk
      }
    }
  }
}
