/** Makes every evaluation of a checked pack again. */
import { isRecomputed, longestWindowMs, Recomputation, recomputedParts } from "@flyball/core/recompute"
import { detectCompression, fileSource, nodeCrypto, packContent } from "@flyball/evidence/node"
import { DisclosedParts } from "./disclosed-parts.ts"
import { readPackRecords } from "./pack-records.ts"
import { ReplayCount, type ReplayReport } from "./replay-report.ts"

/**
 * Replays a full or range pack that begins at `from`. To be asked of a pack whose integrity is `ok`.
 *
 * Reads the pack twice more: once for how far back meters look, so that what lies farther back can be let go of, and once to evaluate.
 */
export const replayPack = async (path: string, from: number): Promise<ReplayReport> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  const content = () => packContent(source, compression)
  const again = new Recomputation({ fromGenesis: from === 0, sha256: nodeCrypto.sha256, longestWindowMs: await longestWindowOf(content()) })
  const count = new ReplayCount()
  await readPackRecords(content, { kind: isRecomputed, part: (name) => recomputedParts.has(name) }, (record, atMs) => {
    const one = again.take(record, atMs)
    if (one !== null) count.add(one)
  })
  return count.report(again.unreadable)
}

/** The longest window of the envelopes that a pack discloses. Under others nothing can be made again. Unit: milliseconds. */
const longestWindowOf = async (content: AsyncIterable<Uint8Array>): Promise<number> => {
  const parts = new DisclosedParts(content)
  let longest = 0
  try {
    for (;;) {
      // The first place behind the one at hand.
      const found = parts.seek({ seq: parts.seq, name: `${parts.name}\0` })
      if (typeof found !== "boolean") await found
      if (parts.seq === Number.POSITIVE_INFINITY) return longest
      if (parts.name === "envelope") longest = Math.max(longest, longestWindowMs(parts.bytes()))
    }
  } finally {
    await parts.end()
  }
}
