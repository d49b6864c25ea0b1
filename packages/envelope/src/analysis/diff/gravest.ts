/** One report out of several about the same change. Spec: decision 0022. */
import type { DiffReport } from "./diff-report.ts"

/** The same change for one of those whom it concerns. */
export interface ReportFor {
  /** The affected agent or org unit, as the beginning of a sentence: "With the envelope … of an agent: ". */
  readonly whom: string
  readonly report: DiffReport
}

const grades: ReadonlyArray<DiffReport["change"]> = ["equal", "tightening_only", "unknown", "loosens"]

/**
 * The report that the gate has to use: the gravest, the first of equals. Its notes name the others that are graver than
 * the first.
 */
export const gravestOf = (first: DiffReport, others: ReadonlyArray<ReportFor>): DiffReport => {
  const grade = ({ change }: DiffReport): number => grades.indexOf(change)
  const graver = others.filter(({ report }) => grade(report) > grade(first))
  const worst = graver.reduce(
    (found: ReportFor | null, one) => (found === null || grade(one.report) > grade(found.report) ? one : found),
    null
  )
  if (worst === null) return first
  const rest = graver.filter((one) => one !== worst).map(({ report, whom }) => `${whom}${report.sentence}`)
  return {
    ...worst.report,
    sentence: `${worst.whom}${worst.report.sentence}`,
    notes: [...first.notes, ...worst.report.notes, ...rest]
  }
}
