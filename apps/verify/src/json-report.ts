/** The report as JSON. Its top level is a promise to programs: members are added, never renamed. */
import type { Previous, Report } from "@flyball/evidence"
import type { ReplayReport } from "./replay/replay-report.ts"

/** The text of `--json`. */
export const jsonReport = (report: Report, previous: Previous | null = null, replay: ReplayReport | null = null): string => {
  const { counts, file, findings, format, keys, not_checked, origin, statement, tree_size, verdicts } = report
  return `${JSON.stringify({ file, format, origin, tree_size, verdicts, findings, counts, keys, not_checked, statement, previous: follows(previous), replay }, null, 2)}\n`
}

const follows = (previous: Previous | null) =>
  previous === null ? null : { origin: previous.origin, signed_size: previous.signedSize, stored_size: previous.storedSize }
