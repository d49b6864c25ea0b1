/**
 * Checks a pack, and reads it again for what was requested besides: replay, bodies, the summary. It takes packs that
 * are open already, so that the command (files of Node) and the page (files of a browser) run the same code.
 */
import { PackFileUnusable, type Report } from "@flyball/evidence"
import type { StopCertificate, UsageReport } from "@flyball/rules"
import { whyNotIntact } from "./assurance.ts"
import { type BodiesReport, withBodies } from "./bodies/bodies-report.ts"
import type { Extras, SplitView } from "./extras.ts"
import type { PackFile } from "./pack-file.ts"
import { previousChain, withPrevious } from "./previous-chain.ts"
import type { Earlier } from "./replay/earlier-packs.ts"
import { type Replayed, type ReplayReport, withReplay } from "./replay/replay-report.ts"
import type { UsageSpan } from "./usage/usage-span.ts"
import type { RecordEntry } from "./summary/summarize.ts"
import type { Summary } from "./summary/summary.ts"

/** Request for a check. */
export interface CheckRequest {
  readonly pack: PackFile
  /** Verifies the pack by itself, with the keys and demands of the user. */
  readonly verify: () => Promise<Verified>
  readonly replay: boolean
  /** For replay: packs of the records before this one, in any order. */
  readonly previous: ReadonlyArray<PackFile>
  readonly bodies: boolean
  /** The activation whose stop certificate is recomputed. */
  readonly certificate?: string | null
  /** The window whose usage is counted again. */
  readonly usage?: UsageSpan | null
  /** `required`: a report says it where none could be made. */
  readonly summary: "required" | "wanted" | "none"
  /** Gets every record, in order, where a summary is made. */
  readonly onRecord?: (entry: RecordEntry) => void
  /** Called before each reading. */
  readonly onStep?: (step: CheckStep) => void
}

/** The readings of a pack, in their order. */
export type CheckStep = "verify" | "replay" | "bodies" | "summary"

/** A verified pack; and two checkpoints that contradict each other, where a comparison found them. */
export interface Verified {
  readonly report: Report
  readonly splitView: SplitView | null
}

/** Everything that was found. */
export interface Checked {
  readonly report: Report
  readonly extras: Extras
}

/**
 * Checks a pack.
 *
 * - Fails: as `verify` of the request and readings of the packs do; with `PackFileUnusable` where a file changed
 *   meanwhile.
 */
export const checkPack = async (request: CheckRequest): Promise<Checked> => {
  const { report: checked, ...found } = await verifyAndReadAgain(request)
  const previous = checked.verdicts.integrity === "ok" ? await previousChain(request.pack) : null
  return { report: withPrevious(checked, previous), extras: { ...found, previous } }
}

interface ReadAgain extends Verified {
  readonly replayed: Replayed | null
  readonly bodies: BodiesReport | null
  readonly certificate: StopCertificate | null
  readonly usage: UsageReport | null
  readonly summary: Summary | null
}

/**
 * Replay, the bodies and the summary take another reading of the file, after it was checked: it must be the same file
 * then.
 */
const verifyAndReadAgain = async (request: CheckRequest): Promise<ReadAgain> => {
  const { onStep = () => undefined, pack } = request
  const wantsSummary = request.summary !== "none"
  onStep("verify")
  const wanted = request.certificate ?? null
  const span = request.usage ?? null
  if (!request.replay && !request.bodies && !wantsSummary && wanted === null && span === null)
    return { ...(await request.verify()), replayed: null, bodies: null, summary: null, certificate: null, usage: null }
  const files = [pack, ...request.previous]
  const before = await Promise.all(files.map((file) => file.identity()))
  const { report, splitView } = await request.verify()
  if (request.replay) onStep("replay")
  const { replay, why } = request.replay ? await replayed(request, report) : { replay: null, why: null }
  if (request.bodies) onStep("bodies")
  const bodies = request.bodies ? await bodiesOf(pack, report) : null
  if (wantsSummary) onStep("summary")
  const summary = wantsSummary ? await summaryOf(request, report) : null
  const certificate = wanted === null ? null : await certificateOf(pack, report, wanted)
  const usage = span === null ? null : await usageOf(pack, report, span)
  const after = await Promise.all(files.map((file) => file.identity()))
  if (after.some((identity, place) => identity !== before[place]))
    throw new PackFileUnusable(
      "The file changed while it was read. Copy it to a place where no program writes it, and verify the copy."
    )
  const noted = request.summary === "required" && summary === null ? withoutSummary(report) : report
  const certified =
    wanted === null
      ? noted
      : (await import("./certificate/certify-pack.ts")).withCertificate(noted, wanted, certificate)
  const counted = span === null ? certified : (await import("./usage/usage-pack.ts")).withUsage(certified, usage)
  const compared = request.bodies ? withBodies(counted, bodies) : counted
  if (!request.replay) return { report: compared, splitView, replayed: null, bodies, summary, certificate, usage }
  return {
    report: withReplay(compared, replay, why),
    splitView,
    replayed: { replay, packExit: report.exit },
    bodies,
    summary,
    certificate,
    usage
  }
}

/** Loaded on demand, as replay is. Null for a pack that is not intact: it would be believed all the same. */
const summaryOf = async (
  { onRecord, pack }: CheckRequest,
  { counts, exit, verdicts }: Report
): Promise<Summary | null> =>
  verdicts.integrity === "ok" && (exit === 0 || exit === 2)
    ? await (await import("./summary/summarize-pack.ts")).summarizePack(pack, counts.records, onRecord)
    : null

/** Loaded on demand, as replay is. */
const certificateOf = async (pack: PackFile, report: Report, activationId: string): Promise<StopCertificate | null> => {
  const { certifyPack, whyNotCertified } = await import("./certificate/certify-pack.ts")
  return whyNotCertified(report) === null ? certifyPack(pack, activationId) : null
}

/** Loaded on demand. */
const usageOf = async (pack: PackFile, report: Report, span: UsageSpan): Promise<UsageReport | null> => {
  const { usageOfPack, whyNoUsage } = await import("./usage/usage-pack.ts")
  return whyNoUsage(report) === null ? usageOfPack(pack, span) : null
}

/** Such a pack has another status than 0 already. */
const withoutSummary = (report: Report): Report => ({
  ...report,
  not_checked: ["No summary was made: this pack is not intact.", ...report.not_checked]
})

/** Loaded on demand, as replay is. */
const bodiesOf = async (pack: PackFile, { verdicts }: Report): Promise<BodiesReport | null> =>
  verdicts.integrity === "ok" ? await (await import("./bodies/compare-bodies.ts")).compareBodies(pack) : null

/** Loaded on demand: other runs do not wait for it. */
const replayed = async (
  { pack, previous }: CheckRequest,
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

/**
 * Reads what comes before a pack; returns a sentence where the given pack does not come before it. A range may be
 * replayed by itself.
 */
const earlierThan = async (
  pack: PackFile,
  chain: { readonly from: number; readonly origin: string },
  previous: ReadonlyArray<PackFile>
): Promise<Earlier | string> => {
  if (chain.from === 0) return (await import("./replay/earlier-packs.ts")).earlierPacks(pack, previous)
  if (previous.length === 0) return { packs: [], missing: null }
  return (await import("./replay/continued-pack.ts")).continuedPack(pack, chain, previous)
}

const whyNotReplayed = (report: Report): string | null => {
  if (report.header === null || report.verdicts.integrity !== "ok")
    return `Evaluations were not recomputed: ${whyNotIntact(report)}.`
  return report.header.kind === "sparse"
    ? "Evaluations were not recomputed: that needs a full or range pack, because each depends on the records before it."
    : null
}
