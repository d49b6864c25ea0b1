/** A file as the source of a pack's bytes. */
import type { FileHandle } from "node:fs/promises"
import { constants, readSync } from "node:fs"
import { open } from "node:fs/promises"
import { setImmediate as nextTurn } from "node:timers/promises"
import { type ByteSource, CHUNK_BYTES, PackFileUnusable } from "../pack/byte-source.ts"

/** A file being verified. */
export interface FileSource extends ByteSource, AsyncDisposable {
  /**
   * Resolves to true while the file is the one that was opened: a verdict about bytes that moved meanwhile is worth
   * nothing.
   */
  readonly unchanged: () => Promise<boolean>
}

/** Opens a file for reading. Fails as `open` of Node does, or with `PackFileUnusable`. */
export const fileSource = async (path: string): Promise<FileSource> => {
  // Without this a pipe that nobody writes to would be waited for, before we could see that it is one.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const opened = await handle.stat({ bigint: true })
  if (!opened.isFile()) {
    await handle.close()
    throw new PackFileUnusable("This is not a plain file. Save the pack to one: it may have to be read twice.")
  }
  return {
    size: Number(opened.size),
    read: (at, length) => readFully(handle, at, length),
    chunks: (at) => fileChunks(handle, at),
    unchanged: async () => {
      const now = await handle.stat({ bigint: true })
      return now.size === opened.size && now.mtimeNs === opened.mtimeNs
    },
    [Symbol.asyncDispose]: () => handle.close()
  }
}

/**
 * Reads on this thread: handing each read to another one and waiting for its answer costs an eighth of a whole check.
 * The system reads ahead by
 * itself, so disk and processor work at the same time. Between chunks others have their turn: timers, signals, answers
 * of threads.
 */
async function* fileChunks(handle: FileHandle, from: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES)
  for (let at = from; ;) {
    const bytesRead = readSync(handle.fd, buffer, 0, CHUNK_BYTES, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
    await nextTurn()
  }
}

const readFully = async (handle: FileHandle, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}
