/** Waits for a slow reader, so that what it does not read yet is not kept in memory. */
import { once } from "node:events"
import type { Writable } from "node:stream"

/** Resolves once a stream takes more, or has ended. */
export const drained = async (stream: Writable): Promise<void> => {
  if (!stream.writableNeedDrain || stream.destroyed) return
  const ending = new AbortController()
  const { signal } = ending
  await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]).catch(() => undefined)
  // The listener that was not called goes with it.
  ending.abort()
}
