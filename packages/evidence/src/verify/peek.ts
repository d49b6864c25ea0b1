/** A short look at the beginning of a pack. */
import type { Crypto } from "../crypto.ts"
import { Unreadable } from "./findings.ts"
import { PackReading } from "./pack-reading.ts"
import type { PackChunks } from "./verify-pack.ts"

/** Tree size of a pack's checkpoint, which stands in its third line; null when the pack cannot be read so far. Nothing is verified. */
export const peekTreeSize = async (crypto: Crypto, chunks: PackChunks): Promise<number | null> => {
  const reading = new PackReading(crypto, { rootsAt: [], partBudget: 0, reread: null, onRecord: null })
  try {
    for await (const chunk of chunks) {
      reading.reader.feed(chunk)
      while (reading.reader.next()) {
        await reading.line()
        if (reading.checkpoint !== null) return reading.checkpoint.size
      }
      if (reading.reader.tooLong) return null
    }
    return null
  } catch (cause) {
    if (cause instanceof Unreadable) return null
    throw cause
  }
}
