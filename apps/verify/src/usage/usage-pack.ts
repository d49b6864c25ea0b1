/** Recomputes the usage figures of a window from the records of a pack. */
import { inOneGo, type Report } from "@flyball/evidence"
import {
  foldUsage,
  onsetSeqs,
  telemetryKinds,
  UnsettledDecisions,
  usageReport,
  type UsageReport,
  UsageState,
  UsageTotals
} from "@flyball/rules"
import { whyNotIntact } from "../assurance.ts"
import type { PackFile } from "../pack-file.ts"
import { readPackRecords } from "../replay/pack-records.ts"
import { worstExit } from "../worst-exit.ts"
import type { UsageSpan } from "./usage-span.ts"

const kinds: ReadonlySet<string> = new Set(telemetryKinds)

/**
 * The figures, for every agent. Reads a full pack once; twice where a breaker tripped, whose window began at an earlier
 * record. Precondition: its integrity is `ok`.
 *
 * Memory grows with agents, and with the decisions that state a model or a usage and were not settled.
 */
export const usageOfPack = async ({ content }: PackFile, { fromMs, toMs }: UsageSpan): Promise<UsageReport> => {
  const state = new UsageState()
  const [before, totals] = [new UsageTotals(), new UsageTotals()]
  const decisions = new UnsettledDecisions()
  let asOfSeq: number | null = null
  await readPackRecords(content, { kind: () => true, part: () => false }, (record, atMs) => {
    if (atMs >= toMs) return
    asOfSeq = record.seq
    if (kinds.has(record.kind)) foldUsage(state, atMs < fromMs ? before : totals, record, atMs, decisions.take(record))
  })
  const wanted = new Set(onsetSeqs({ state, totals }))
  const times = new Map<number, number>()
  if (wanted.size > 0)
    await readPackRecords(content, { kind: () => true, part: () => false }, ({ seq }, atMs) => {
      if (wanted.has(seq)) times.set(seq, atMs)
    })
  return inOneGo(
    usageReport({
      fromMs,
      toMs,
      asOfSeq,
      totals,
      state,
      showsAgent: () => true,
      showsTarget: () => true,
      atMsOf: (seq) => times.get(seq)
    })
  )
}

/** Why there are no figures; null where there may be. Prices and open incidents may lie anywhere before the window. */
export const whyNoUsage = (report: Report): string | null =>
  report.header === null || report.verdicts.integrity !== "ok"
    ? `No usage was counted: ${whyNotIntact(report)}.`
    : report.header.kind !== "full"
      ? "No usage was counted: that needs a full pack, because prices and incidents may begin before the window."
      : null

/** The report where usage was requested. Figures that are missing are status 2. */
export const withUsage = (report: Report, usage: UsageReport | null): Report =>
  usage !== null
    ? report
    : {
        ...report,
        not_checked: [whyNoUsage(report) ?? "No usage was counted.", ...report.not_checked],
        exit: worstExit(report.exit, 2)
      }
