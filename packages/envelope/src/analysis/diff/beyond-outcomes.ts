/**
 * Compares two versions beyond their outcomes at each input: where inputs come from, what they are measured in, what
 * meters add up, what must be done.
 */
import type { Envelope } from "../../language/envelope.ts"
import type { DiffReport } from "./diff-report.ts"

/**
 * The report, where only what a diff cannot see of the old version changed as `unknown`: a shorter window, a signal
 * that the caller says now or in another unit, a lesser obligation
 * would else pass for equal. What is new beside the old is seen by the outcomes of its rules; the time for a notice,
 * which a new rule can lengthen, by `longer-notice.ts`.
 */
export const beyondOutcomes = (report: DiffReport, from: Envelope | null, to: Envelope): DiffReport => {
  const kept = new Set(sayings(to))
  return withNotes(
    report,
    from === null
      ? []
      : sayings(from)
          .filter((saying) => !kept.has(saying))
          .map((saying) => `Not as before, and not compared by outcomes: ${saying}`)
  )
}

/** The report with what was found beside outcomes: not proved to tighten where anything was. */
export const withNotes = (report: DiffReport, notes: ReadonlyArray<string>): DiffReport =>
  notes.length === 0
    ? report
    : {
        ...report,
        change: report.change === "loosens" ? "loosens" : "unknown",
        notes: [...report.notes, ...notes],
        sentence: [
          report.sentence,
          ...notes.slice(0, REPEATED),
          ...(notes.length > REPEATED ? [`The notes name ${notes.length - REPEATED} more.`] : [])
        ].join(" ")
      }

/** Notes that the sentence repeats. */
const REPEATED = 3

/** One text for each meter, derived signal, origin and unit of a signal, and rule that obliges. */
const sayings = ({ derived, meters, onUnavailable, rules, signals }: Envelope): ReadonlyArray<string> => [
  ...meters.map((meter) => `meter ${JSON.stringify(meter)}`),
  ...derived.map((one) => `derived signal ${JSON.stringify(one)}`),
  ...signals.map(
    ({ from, name, onMissing, setBy, source, unit }) =>
      `signal ${JSON.stringify({ name, source, ...(from === null ? {} : { from }), unit, onMissing, setBy })}`
  ),
  ...rules
    .filter(({ obligations, retryAfterMs }) => obligations.length > 0 || retryAfterMs !== null)
    .map(({ noticeMs: _, reason: __, suggestion: ___, ...rule }) => `rule ${JSON.stringify(rule)}`),
  ...(onUnavailable === "deny" ? ["on_unavailable is deny"] : [])
]
