/** Makes every evaluation of a checked pack again. */
import { isRecomputed, LATE_MS, longestWindowMs, Recomputation, recomputedParts } from "@flyball/core/recompute"
import { detectCompression, fileSource, nodeCrypto, packContent } from "@flyball/evidence/node"
import { DisclosedParts } from "./disclosed-parts.ts"
import type { Earlier } from "./earlier-packs.ts"
import { FourEyes, fourEyesParts, isFourEyes } from "./four-eyes.ts"
import { readPackRecords } from "./pack-records.ts"
import { ReplayCount, type ReplayReport } from "./replay-report.ts"

/**
 * Replays a full or range pack that begins at `from`, after the chains before it. To be asked of packs whose integrity is `ok`.
 *
 * Reads each pack twice more: once for how far back meters look, so that what lies farther back can be let go of, and once to evaluate.
 */
export const replayPack = async (path: string, origin: string, from: number, { missing, packs }: Earlier): Promise<ReplayReport> => {
  const all = [...packs, { path, before: 0 }]
  let longest = 0
  for (const one of all) longest = Math.max(longest, await withContent(one.path, (content) => longestWindowOf(content())))
  const again = new Recomputation({ fromGenesis: from === 0 && missing === null, crypto: nodeCrypto, longestWindowMs: longest, origin })
  const people = new FourEyes({ compare: (record) => again.compare(record), fromGenesis: from === 0 && missing === null, sha256: nodeCrypto.sha256 })
  const count = new ReplayCount(LATE_MS)
  for (const one of all) {
    await withContent(one.path, (content) => readPackRecords(content, { kind: (kind) => isRecomputed(kind) || isFourEyes(kind), part: (name) => recomputedParts.has(name) || fourEyesParts.has(name) }, (record, atMs) => {
      // First, since a publication is compared with what bound before it.
      const done = people.take(record, one.before)
      const judged = again.take(record, atMs, one.before)
      // What was evaluated in a chain before this one is for a replay of that chain's own pack to judge.
      if (judged !== null && one.before === 0) count.add(judged)
      if (done !== null) count.addAct(done)
    }))
  }
  return count.report(again.unreadable, missing)
}

const withContent = async <A>(path: string, use: (content: () => AsyncIterable<Uint8Array>) => Promise<A>): Promise<A> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  return await use(() => packContent(source, compression))
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
