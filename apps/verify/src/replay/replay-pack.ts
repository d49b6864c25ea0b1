/** Makes every evaluation of a checked pack again. */
import {
  isRecomputed,
  LATE_MS,
  longestWindowMs,
  Recomputation,
  type Recomputed,
  isOfDecisions,
  isRecomputedPart,
  type ReplayRecord
} from "@flyball/rules"
import { kindRow, knownMembers, type Report } from "@flyball/evidence"
import { whyNotIntact } from "../assurance.ts"
import type { PackFile } from "../pack-file.ts"
import type { BeginReading, Found } from "../readings.ts"
import { continuedPack } from "./continued-pack.ts"
import { DisclosedParts } from "./disclosed-parts.ts"
import { type Earlier, earlierPacks } from "./earlier-packs.ts"
import { FourEyes, fourEyesParts, isFourEyes } from "./four-eyes.ts"
import { readPackRecords, type RecordReader } from "./pack-records.ts"
import { ReplayCount, type ReplayReport, withReplay } from "./replay-report.ts"

/**
 * Replays a full or range pack, after the packs before it.
 *
 * Reads the parts of each pack once before: to find how far back meters read, so that older records can be dropped, and
 * whether a fairness screen or a calibration is disclosed, for which decisions are kept.
 */
export const readReplay: BeginReading = async ({ pack, previous }, report) => {
  const end = (replay: ReplayReport | null, why: string | null): Found => ({
    extras: { replayed: { replay, packExit: report.exit } },
    effect: (noted) => withReplay(noted, replay, why)
  })
  const earlier = whyNotReplayed(report) ?? (await earlierThan(pack, report, previous))
  if (typeof earlier === "string") return { end: () => end(null, earlier) }
  const { missing, packs } = earlier
  const { crypto } = pack
  // The last of the packs before a range may be of the same chain.
  const fromGenesis = missing === null && (report.header!.from === 0 || packs.at(-1)?.before === 0)
  let [longest, keepsDecisions] = [0, false]
  for (const one of [...packs, { pack }]) {
    const found = await neededOf(one.pack.content())
    longest = Math.max(longest, found.longestWindowMs)
    keepsDecisions ||= found.countsDecisions
  }
  const origin = report.origin!
  const again = new Recomputation({ fromGenesis, crypto, keepsDecisions, longestWindowMs: longest, origin })
  const people = new FourEyes({ compare: (record) => again.compare(record), fromGenesis, sha256: crypto.sha256 })
  const count = new ReplayCount(LATE_MS)
  const reader = (before: number, isJudged: boolean): RecordReader => ({
    kind: (kind) => isRecomputed(kind) || isFourEyes(kind) || kindRow(kind) === null,
    part: (name, kind, beside) =>
      (isRecomputedPart(name, kind, beside) && (keepsDecisions || !isOfDecisions(name, kind))) ||
      fourEyesParts.has(name),
    take: (record, atMs) => {
      if (kindRow(record.kind) === null) count.addUnknownKind()
      // First, since a publication is compared with what bound before it.
      const done = people.take(record, before)
      const unreadable = again.unreadable
      let made = again.take(record, atMs, before)
      if (again.unreadable > unreadable) made = takeKnown(again, record, atMs, before) ?? made
      // What an earlier pack holds is for a replay of that pack to judge.
      if (!isJudged) return
      if (made !== null) count.add(made)
      if (done !== null) count.addAct(done)
    }
  })
  for (const one of packs) await readPackRecords(one.pack.content, reader(one.before, false))
  return {
    records: reader(0, true),
    end: () => end(count.report(again.unreadable, missing), null)
  }
}

/** Says why a checked pack cannot be replayed; null where it can. */
const whyNotReplayed = (report: Report): string | null => {
  if (report.header === null || report.verdicts.integrity !== "ok")
    return `Evaluations were not recomputed: ${whyNotIntact(report)}.`
  return report.header.kind === "sparse"
    ? "Evaluations were not recomputed: that needs a full or range pack, because each depends on the records before it."
    : null
}

/**
 * Reads what comes before a pack; returns a sentence where the given pack does not come before it. A range may be
 * replayed by itself.
 */
const earlierThan = async (
  pack: PackFile,
  { header, origin }: Report,
  previous: ReadonlyArray<PackFile>
): Promise<Earlier | string> => {
  const { from } = header!
  if (from === 0) return earlierPacks(pack, previous)
  return previous.length === 0 ? { packs: [], missing: null } : continuedPack(pack, { from, origin: origin! }, previous)
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
 * The longest window of the envelopes that a pack discloses, under others nothing can be recomputed; and whether it
 * discloses a fairness screen or the calibration of a breaker. Unit: milliseconds.
 */
const neededOf = async (content: AsyncIterable<Uint8Array>) => {
  const parts = new DisclosedParts(content)
  let [longest, countsDecisions] = [0, false]
  try {
    for (;;) {
      // The first place behind the one at hand.
      const found = parts.seek({ seq: parts.seq, name: `${parts.name}\0` })
      if (typeof found !== "boolean") await found
      if (parts.seq === Number.POSITIVE_INFINITY) return { longestWindowMs: longest, countsDecisions }
      if (parts.name === "envelope") longest = Math.max(longest, longestWindowMs(parts.bytes()))
      countsDecisions ||= parts.name === "screen" || parts.name === "good_runs"
    }
  } finally {
    await parts.end()
  }
}
