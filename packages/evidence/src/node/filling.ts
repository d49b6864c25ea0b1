/** The content of a pack, read to where somebody wants it. */
import type { FileSource } from "./pack-source.ts"

/** Gives the content piece by piece. */
export interface Filling {
  /** Fills the room, in part or whole; answers how many bytes came, 0 when there are no more. */
  readonly fill: (room: Uint8Array) => number | Promise<number>
  /** To be called when nobody wants more. */
  readonly close: () => Promise<unknown>
}

/** The bytes of a plain file: what is read to where it is checked need not be copied. */
export const fillingFrom = (source: FileSource, signal: AbortSignal | undefined): Filling => {
  let at = 0
  return {
    fill: (room) => {
      signal?.throwIfAborted()
      const filled = source.fill(room, at)
      at += filled
      return filled
    },
    close: async () => undefined
  }
}

/** The bytes of chunks. */
export const fillingOf = (chunks: AsyncIterable<Uint8Array>): Filling => {
  const iterator = chunks[Symbol.asyncIterator]()
  let chunk: Uint8Array = new Uint8Array(0)
  return {
    fill: async (room) => {
      while (chunk.length === 0) {
        const next = await iterator.next()
        if (next.done === true) return 0
        chunk = next.value
      }
      const filled = Math.min(room.length, chunk.length)
      room.set(chunk.subarray(0, filled))
      chunk = chunk.subarray(filled)
      return filled
    },
    close: async () => iterator.return?.()
  }
}
