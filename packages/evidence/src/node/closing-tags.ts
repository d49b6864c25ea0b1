/** A look at the end of a pack file before it is read from the beginning. */
import type { ByteSource } from "./pack-source.ts"

/** Room for N, Z and the line before them, unless that one discloses a long part. */
const TAIL_BYTES = 16 * 1024

/**
 * Whether the last line before Z is neither D nor E, so that the pack, if it is one, has no line about a part.
 *
 * A hint only: what it saves is remembering the parts of all records, which D and E lines ask about. If it is wrong,
 * they are found by a second reading.
 */
export const endsWithoutPartLines = async (source: ByteSource): Promise<boolean> => {
  const tail = Buffer.from(await source.read(Math.max(0, source.size - TAIL_BYTES), TAIL_BYTES)).toString("latin1")
  // The first piece may be the end of a longer line; behind the last newline there is nothing.
  const [before, z, n, rest] = tail.split("\n").slice(1).slice(-4)
  return rest === "" && n!.startsWith("N ") && z!.startsWith("Z ") && /^[SI] /.test(before!)
}
