/**
 * Checks a pack, and reads it again for what was requested besides: replay, bodies, the summary. It takes packs that
 * are open already, so that the command (files of Node) and the page (files of a browser) run the same code.
 */
import type { GivenAnswer } from "./answer/answer-pack.ts"
import { PackFileUnusable, type Report } from "@flyball/evidence"
import { type Extras, noExtras, type SplitView } from "./extras.ts"
import type { PackFile } from "./pack-file.ts"
import { previousChain, withPrevious } from "./previous-chain.ts"
import { readAll, wantedReadings } from "./readings.ts"
import type { UsageSpan } from "./usage/usage-span.ts"
import type { RecordEntry } from "./summary/summarize.ts"

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
  /** The answer about an agent's behaviour that is recomputed. */
  readonly answer?: GivenAnswer | null
  /** `required`: a report says it where none could be made. */
  readonly summary: "required" | "wanted" | "none"
  /** Gets every record, in order, where a summary is made. */
  readonly onRecord?: (entry: RecordEntry) => void
  /** Called before each reading. */
  readonly onStep?: (step: CheckStep) => void
}

/** The readings of a pack, in their order. `read`: everything that was requested besides. */
export type CheckStep = "verify" | "read"

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
 * Checks a pack. What is requested besides takes another reading of the file, after it was checked: it must be the same
 * file then.
 *
 * - Fails: as `verify` of the request and readings of the packs do; with `PackFileUnusable` where a file changed
 *   meanwhile.
 */
export const checkPack = async (request: CheckRequest): Promise<Checked> => {
  const { onStep = () => undefined, pack } = request
  const wanted = wantedReadings(request)
  const files = wanted.length === 0 ? [] : [pack, ...request.previous]
  const identities = (): Promise<ReadonlyArray<string>> => Promise.all(files.map((file) => file.identity()))
  onStep("verify")
  const before = await identities()
  const { report: verified, splitView } = await request.verify()
  if (wanted.length > 0) onStep("read")
  const found = await readAll(wanted, request, verified)
  const after = await identities()
  if (after.some((identity, place) => identity !== before[place]))
    throw new PackFileUnusable(
      "The file changed while it was read. Copy it to a place where no program writes it, and verify the copy."
    )
  const report = found.reduce((noted, { effect }) => effect?.(noted) ?? noted, verified)
  const previous = report.verdicts.integrity === "ok" ? await previousChain(pack) : null
  return {
    report: withPrevious(report, previous),
    extras: Object.assign({ ...noExtras, splitView, previous }, ...found.map(({ extras }) => extras))
  }
}
