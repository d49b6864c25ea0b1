/** Verifies the pack that the arguments name, prints the report, and answers the exit status. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import type { Report } from "@flyball/evidence"
import { UnusableTrust } from "@flyball/evidence"
import type { VerifyFileOptions } from "@flyball/evidence/node"
import { comparePackFiles, PackFileUnusable, verifyPackFile } from "@flyball/evidence/node"
import type { Command } from "./arguments.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { type BodiesReport, withBodies } from "./bodies/bodies-report.ts"
import type { Extras, SplitView } from "./extras.ts"
import { humanReport } from "./human-report.ts"
import { jsonReport } from "./json-report.ts"
import { previousChain, withPrevious } from "./previous-chain.ts"
import { checkIsNew, writeNew } from "./report-file.ts"
import { printable, printableLines } from "./printable.ts"
import { PROGRESS_FROM_BYTES, progressLine } from "./progress.ts"
import type { Earlier } from "./replay/earlier-packs.ts"
import { type Replayed, type ReplayReport, withReplay } from "./replay/replay-report.ts"
import type { Summary } from "./summary/summary.ts"

/** What the command needs of the world. */
export interface World {
  readonly out: (text: string) => Promise<void>
  readonly err: (text: string) => Promise<void>
  readonly nowMs: () => number
  /** A person watches standard error. */
  readonly isTerminal: boolean
}

/** Status 4: the verifier failed or was called wrongly, and nothing is said about the pack. */
const NO_VERDICT = 4

/** Runs the command. Fails: rejects only for a fault of the program itself. */
export const run = async (args: ReadonlyArray<string>, world: World): Promise<number> => {
  try {
    const command = readArguments(args)
    if (command.html !== null) await checkIsNew(command.html)
    const { report: checked, ...found } = await verifyAndReadAgain(command, world)
    const previous = checked.verdicts.integrity === "ok" ? await previousChain(command.pack) : null
    const report = withPrevious(checked, previous)
    const whole: Extras = { ...found, previous }
    if (command.html !== null) {
      const { htmlReport } = await import("./html-report.ts")
      await writeNew(command.html, htmlReport(report, whole, world.nowMs()))
    }
    // A page always has the summary; the other reports have it where it was requested.
    const extras: Extras = command.summary ? whole : { ...whole, summary: null }
    if (command.json) await world.out(printableLines(jsonReport(report, extras)))
    else if (!command.quiet) await world.out(printableLines(humanReport(report, extras)))
    return report.exit
  } catch (cause) {
    const sentence = explain(cause)
    if (sentence === null) throw cause
    await world.err(`flyball-verify: ${printable(sentence)}\n`)
    return NO_VERDICT
  }
}

interface Verified {
  readonly report: Report
  readonly splitView: SplitView | null
}

interface ReadAgain extends Verified {
  readonly replayed: Replayed | null
  readonly bodies: BodiesReport | null
  readonly summary: Summary | null
}

/**
 * Replay, the bodies and the summary take another reading of the file, after it was checked: it must be the same file
 * then.
 */
const verifyAndReadAgain = async (command: Command, world: World): Promise<ReadAgain> => {
  const wantsSummary = command.summary || command.html !== null
  if (!command.replay && !command.bodies && !wantsSummary)
    return { ...(await verify(command, world)), replayed: null, bodies: null, summary: null }
  const files = [command.pack, ...command.previous]
  const before = await Promise.all(files.map(identityOf))
  const { report, splitView } = await verify(command, world)
  const { replay, why } = command.replay ? await replayed(command, report) : { replay: null, why: null }
  const bodies = command.bodies ? await bodiesOf(command.pack, report) : null
  const summary = wantsSummary ? await summaryOf(command.pack, report) : null
  const after = await Promise.all(files.map(identityOf))
  if (after.some((identity, place) => identity !== before[place]))
    throw new PackFileUnusable(
      "The file changed while it was read. Copy it to a place where nobody writes to it, and verify the copy."
    )
  const noted = command.summary && summary === null ? withoutSummary(report) : report
  const compared = command.bodies ? withBodies(noted, bodies) : noted
  if (!command.replay) return { report: compared, splitView, replayed: null, bodies, summary }
  return {
    report: withReplay(compared, replay, why),
    splitView,
    replayed: { replay, packExit: report.exit },
    bodies,
    summary
  }
}

/** Loaded on demand, as replay is. Null for a pack that is not intact: it would be believed all the same. */
const summaryOf = async (pack: string, { counts, exit, verdicts }: Report): Promise<Summary | null> =>
  verdicts.integrity === "ok" && (exit === 0 || exit === 2)
    ? await (await import("./summary/summarize-pack.ts")).summarizePack(pack, counts.records)
    : null

/** Such a pack has another status than 0 already. */
const withoutSummary = (report: Report): Report => ({
  ...report,
  not_checked: ["No summary was made: this pack is not intact.", ...report.not_checked]
})

/** Loaded on demand, as replay is. */
const bodiesOf = async (pack: string, { verdicts }: Report): Promise<BodiesReport | null> =>
  verdicts.integrity === "ok" ? await (await import("./bodies/compare-bodies.ts")).compareBodies(pack) : null

/** Loaded on demand: other runs do not wait for it. */
const replayed = async (
  { pack, previous }: Command,
  report: Report
): Promise<{ readonly replay: ReplayReport | null; readonly why: string | null }> => {
  const why = whyNotReplayed(report)
  if (why !== null) return { replay: null, why }
  const { from } = report.header!
  const origin = report.origin!
  const { replayPack } = await import("./replay/replay-pack.ts")
  const earlier = await earlierThan(pack, { from, origin }, previous)
  return typeof earlier === "string"
    ? { replay: null, why: earlier }
    : { replay: await replayPack(pack, origin, from, earlier), why: null }
}

/** What lies before a pack; a sentence where a pack was given that does not. A range may be replayed by itself. */
const earlierThan = async (
  pack: string,
  chain: { readonly from: number; readonly origin: string },
  previous: ReadonlyArray<string>
): Promise<Earlier | string> => {
  if (chain.from === 0) return (await import("./replay/earlier-packs.ts")).earlierPacks(pack, previous)
  if (previous.length === 0) return { packs: [], missing: null }
  return (await import("./replay/continued-pack.ts")).continuedPack(pack, chain, previous)
}

const whyNotReplayed = ({ header, verdicts }: Report): string | null => {
  if (header === null || verdicts.integrity !== "ok")
    return "Evaluations were not made again: the records are not what the pack claims."
  return header.kind === "sparse"
    ? "Evaluations were not made again: that needs a full or range pack, since each depends on the " +
        "records before it."
    : null
}

const identityOf = async (path: string): Promise<string> => {
  const { ctimeNs, dev, ino, mtimeNs, size } = await stat(path, { bigint: true })
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

const verify = async (command: Command, world: World): Promise<Verified> => {
  const [policy, trustedCheckpoint] = await Promise.all([
    readGiven(command.policy, "policy"),
    readGiven(command.trustedCheckpoint, "trusted checkpoint")
  ])
  const watched = world.isTerminal && !command.quiet && (await sizeOf(command.pack)) >= PROGRESS_FROM_BYTES
  const progress = watched ? progressLine(world.err, world.nowMs) : null
  const options: VerifyFileOptions = {
    vkeys: command.vkeys,
    requireCompleteness: command.require,
    ...(policy === null ? {} : { policy }),
    ...(trustedCheckpoint === null ? {} : { trustedCheckpoint }),
    ...(command.maxAgeMs === null ? {} : { maxAgeMs: command.maxAgeMs, nowMs: world.nowMs() }),
    ...(progress === null ? {} : { onProgress: progress.report })
  }
  try {
    if (command.compare === null) return { report: await verifyPackFile(command.pack, options), splitView: null }
    const { comparison, other, report } = await comparePackFiles(command.pack, command.compare, options)
    return {
      report,
      splitView:
        comparison.outcome === "split view" ? { notes: [report.checkpoint!.note, other.checkpoint!.note] } : null
    }
  } finally {
    await progress?.end()
  }
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size

const readGiven = async (path: string | null, what: string): Promise<Uint8Array | null> => {
  if (path === null) return null
  try {
    // Policies and checkpoints above a megabyte are refused by their readers; a device may have no end at all.
    return await buffer(createReadStream(path, { end: MAX_GIVEN_BYTES }))
  } catch (cause) {
    throw new UsageError(`The ${what} ${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? "unknown"}).`)
  }
}

/** One byte more is read, so that the reader of the file sees that there is more. */
const MAX_GIVEN_BYTES = 1024 * 1024

/** A sentence for what is not our fault; null for what is. */
const explain = (cause: unknown): string | null => {
  if (cause instanceof UsageError || cause instanceof PackFileUnusable) return cause.message
  if (cause instanceof UnusableTrust) return `${cause.message[0]!.toUpperCase()}${cause.message.slice(1)}`
  const { code, path, syscall } = cause as NodeJS.ErrnoException
  if (code === "EPIPE" || code === undefined) return null
  // A disk that fails in the middle of a file: the open file has no name any more.
  if (path === undefined && syscall === "read")
    return `A file could not be read to its end (${code}). Copy it to another disk, and verify the copy.`
  return path === undefined ? null : `The file ${path} cannot be read (${code}). Check its name and your rights to it.`
}
