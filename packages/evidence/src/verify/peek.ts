/** A short look at the beginning of a pack. */
import type { Crypto } from "../crypto.ts"
import { Unreadable } from "./findings.ts"
import { PackReading } from "./pack-reading.ts"
import type { PackChunks } from "./verify-pack.ts"

/**
 * Tree sizes of a pack's checkpoint and of the older one beside it, which stand in its third and fourth line; none when
 * the pack cannot be
 * read so far. Nothing is verified.
 */
export const peekTreeSizes = async (crypto: Crypto, chunks: PackChunks): Promise<ReadonlyArray<number>> => {
  const reading = new PackReading(crypto, { rootsAt: [], partBudget: 0, reread: null, onRecord: null })
  const { reader } = reading
  const sizes = () => [reading.checkpoint, reading.older].flatMap((one) => (one === null ? [] : [one.size]))
  try {
    for await (const chunk of chunks) {
      reader.feed(chunk)
      while (reader.next()) {
        // Only G may come before all else that follows C.
        if (reading.checkpoint !== null && reader.bytes[reader.start] !== LETTER_G) return sizes()
        await reading.line()
        if (reading.older !== null) return sizes()
      }
      if (reader.tooLong) return sizes()
    }
    return sizes()
  } catch (cause) {
    if (cause instanceof Unreadable) return sizes()
    throw cause
  }
}

const LETTER_G = 0x47
