/** Reads the beginning of a pack. */
import type { Crypto } from "../crypto.ts"
import { readCheckpointLine, readHead } from "./checks/head.ts"
import { Unreadable } from "../pack/unreadable.ts"
import { PackFacts } from "./pack-facts.ts"
import type { PackChunks } from "./pack-lines.ts"
import { PackCursor } from "./pack-lines.ts"

/**
 * Tree sizes of a pack's checkpoint and of the older checkpoint in it, from its third and fourth line. Empty when the
 * pack
 * cannot be read so far. Nothing is verified.
 */
export const peekTreeSizes = async (crypto: Crypto, chunks: PackChunks): Promise<ReadonlyArray<number>> => {
  const facts = new PackFacts(crypto)
  const lines = new PackCursor(crypto, chunks)
  const sizes = (older: number | null) => [facts.checkpoint?.size ?? null, older].filter((size) => size !== null)
  try {
    const { origin } = await readHead(lines, facts)
    return sizes(lines.at("G") ? readCheckpointLine(lines, facts, origin).size : null)
  } catch (cause) {
    if (cause instanceof Unreadable) return sizes(null)
    throw cause
  } finally {
    await lines.close()
  }
}
