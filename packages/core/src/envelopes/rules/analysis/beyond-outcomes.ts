/** What two versions say beside their outcomes at each input: where inputs come from, what meters add up, what must be done. */
import type { Envelope } from "../envelope.ts"
import type { DiffReport } from "./diff-report.ts"

/**
 * The report, where only what a diff cannot see of the old version changed as `unknown`: a shorter window, a signal that the caller says now, a lesser obligation
 * would else pass for equal. What is new beside the old is seen by the outcomes of its rules.
 */
export const beyondOutcomes = (report: DiffReport, from: Envelope | null, to: Envelope): DiffReport => {
  const kept = new Set(sayings(to))
  const notes = from === null ? [] : sayings(from).filter((saying) => !kept.has(saying)).map((saying) => `Not as before, and not compared by outcomes: ${saying}`)
  return notes.length === 0 ? report : { ...report, notes: [...report.notes, ...notes], change: report.change === "loosens" ? "loosens" : "unknown" }
}

/** One text for each meter, derived signal, origin of a signal and rule that obliges. */
const sayings = ({ derived, meters, onUnavailable, rules, signals }: Envelope): ReadonlyArray<string> => [
  ...meters.map((meter) => `meter ${JSON.stringify(meter)}`),
  ...derived.map((one) => `derived signal ${JSON.stringify(one)}`),
  ...signals.map(({ name, onMissing, setBy, source }) => `signal ${JSON.stringify({ name, source, onMissing, setBy })}`),
  ...rules.filter(({ noticeMs, obligations, retryAfterMs }) => obligations.length > 0 || noticeMs !== null || retryAfterMs !== null).map(({ reason: _, suggestion: __, ...rule }) => `rule ${JSON.stringify(rule)}`),
  ...(onUnavailable === "deny" ? ["on_unavailable is deny"] : [])
]
