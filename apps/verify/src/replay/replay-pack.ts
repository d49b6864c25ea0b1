/** Makes every evaluation of a checked pack again. */
import {
  isRecomputed,
  LATE_MS,
  longestWindowMs,
  Recomputation,
  type Recomputed,
  isRecomputedPart,
  type ReplayRecord
} from "@flyball/rules"
import { kindRow, knownMembers } from "@flyball/evidence"
import type { PackFile } from "../pack-file.ts"
import { DisclosedParts } from "./disclosed-parts.ts"
import type { Earlier } from "./earlier-packs.ts"
import { FourEyes, fourEyesParts, isFourEyes } from "./four-eyes.ts"
import { readPackRecords } from "./pack-records.ts"
import { ReplayCount, type ReplayReport } from "./replay-report.ts"

/**
 * Replays a full or range pack that begins at `from`, after the packs before it. Precondition: the integrity of the
 * packs is `ok`.
 *
 * Reads each pack twice more: once to find how far back meters read, so that older records can be dropped, and once to
 * evaluate.
 */
export const replayPack = async (
  pack: PackFile,
  origin: string,
  from: number,
  { missing, packs }: Earlier
): Promise<ReplayReport> => {
  const { crypto } = pack
  const judged = { pack, before: 0 }
  const all = [...packs, judged]
  // The last of the packs before a range may be of the same chain.
  const fromGenesis = missing === null && (from === 0 || packs.at(-1)?.before === 0)
  let longest = 0
  for (const one of all) longest = Math.max(longest, await longestWindowOf(one.pack.content()))
  const again = new Recomputation({
    fromGenesis,
    crypto,
    longestWindowMs: longest,
    origin
  })
  const people = new FourEyes({
    compare: (record) => again.compare(record),
    fromGenesis,
    sha256: crypto.sha256
  })
  const count = new ReplayCount(LATE_MS)
  for (const one of all) {
    await readPackRecords(
      one.pack.content,
      {
        kind: (kind) => isRecomputed(kind) || isFourEyes(kind) || kindRow(kind) === null,
        part: (name, kind) => isRecomputedPart(name, kind) || fourEyesParts.has(name)
      },
      (record, atMs) => {
        if (kindRow(record.kind) === null) count.addUnknownKind()
        // First, since a publication is compared with what bound before it.
        const done = people.take(record, one.before)
        const unreadable = again.unreadable
        let made = again.take(record, atMs, one.before)
        if (again.unreadable > unreadable) made = takeKnown(again, record, atMs, one.before) ?? made
        // What an earlier pack holds is for a replay of that pack to judge.
        if (one !== judged) return
        if (made !== null) count.add(made)
        if (done !== null) count.addAct(done)
      }
    )
  }
  return count.report(again.unreadable, missing, again.olderRules)
}

/**
 * Takes what this version knows of a record with members that it does not know: what comes after rests on it. Of the
 * record itself nothing is called
 * wrong, since those members may explain it. Null where there is nothing to take, or nothing to say.
 */
const takeKnown = (again: Recomputation, record: ReplayRecord, atMs: number, before: number): Recomputed | null => {
  const body = knownMembers(record.kind, record.body)
  const judged = body === null ? null : again.take({ ...record, body }, atMs, before)
  if (judged === null) return null
  const besides = judged.reason === null ? "" : ` By those that it knows: ${judged.reason}`
  return { ...judged, verdict: "withheld", reason: `The record has members that this version does not know.${besides}` }
}

/**
 * The longest window of the envelopes that a pack discloses. Under others nothing can be recomputed. Unit:
 * milliseconds.
 */
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
