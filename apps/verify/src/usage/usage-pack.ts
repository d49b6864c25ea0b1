/** Recomputes the usage figures of a window from the records of a pack. */
import { inOneGo, type Report } from "@flyball/evidence"
import {
  foldUsage,
  onsetSeqs,
  telemetryKinds,
  UnsettledDecisions,
  usageReport,
  UsageState,
  UsageTotals
} from "@flyball/rules"
import { whyNotIntact } from "../assurance.ts"
import type { BeginReading, Found } from "../readings.ts"
import { readPackRecords, type RecordReader } from "../replay/pack-records.ts"
import { worstExit } from "../worst-exit.ts"

const kinds: ReadonlySet<string> = new Set(telemetryKinds)

/**
 * Counts the figures of the requested window, for every agent, from a full pack. Reads it once more where a breaker
 * tripped, whose window began at an earlier record.
 *
 * Memory grows with agents, and with the decisions that state a model or a usage and were not settled.
 */
export const readUsage: BeginReading = async ({ pack, usage: span }, report) => {
  if (whyNoUsage(report) !== null) return { end: () => ({ effect: withoutUsage }) }
  const { fromMs, toMs } = span!
  const state = new UsageState()
  const [before, totals] = [new UsageTotals(), new UsageTotals()]
  const decisions = new UnsettledDecisions()
  let asOfSeq: number | null = null
  const all = { kind: () => true, part: () => false }
  const take: RecordReader["take"] = (record, atMs) => {
    if (atMs >= toMs) return
    asOfSeq = record.seq
    if (kinds.has(record.kind)) foldUsage(state, atMs < fromMs ? before : totals, record, atMs, decisions.take(record))
  }
  const end = async (): Promise<Found> => {
    const wanted = new Set(onsetSeqs({ state, totals }))
    const times = new Map<number, number>()
    if (wanted.size > 0)
      await readPackRecords(pack.content, {
        ...all,
        take: ({ seq }, atMs) => {
          if (wanted.has(seq)) times.set(seq, atMs)
        }
      })
    const usage = inOneGo(
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
    return { extras: { usage } }
  }
  return { records: { ...all, take }, end }
}

/** Why there are no figures; null where there may be. Prices and open incidents may lie anywhere before the window. */
const whyNoUsage = (report: Report): string | null =>
  report.header === null || report.verdicts.integrity !== "ok"
    ? `No usage was counted: ${whyNotIntact(report)}.`
    : report.header.kind !== "full"
      ? "No usage was counted: that needs a full pack, because prices and incidents may begin before the window."
      : null

/** The report where usage was requested, and none could be counted: status 2. */
const withoutUsage = (report: Report): Report => ({
  ...report,
  not_checked: [whyNoUsage(report) ?? "No usage was counted.", ...report.not_checked],
  exit: worstExit(report.exit, 2)
})
