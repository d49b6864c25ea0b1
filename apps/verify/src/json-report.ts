/** The report as JSON. Its top level is a promise to programs: members are added, never renamed. */
import type { Report } from "@flyball/evidence"
import type { BodiesReport } from "./bodies/bodies-report.ts"
import type { ShownPrevious } from "./previous-chain.ts"
import type { ReplayReport } from "./replay/replay-report.ts"

/** The text of `--json`. */
export const jsonReport = (
  report: Report,
  previous: ShownPrevious | null = null,
  replay: ReplayReport | null = null,
  bodies: BodiesReport | null = null
): string => {
  const { counts, file, findings, format, keys, not_checked, origin, statement, tree_size, verdicts } = report
  return `${JSON.stringify({ file, format, origin, tree_size, verdicts, findings, counts, keys, not_checked, statement, previous: follows(previous), replay, bodies }, null, 2)}\n`
}

const follows = (previous: ShownPrevious | null) =>
  previous === null || typeof previous === "string"
    ? null
    : { origin: previous.origin, signed_size: previous.signedSize, stored_size: previous.storedSize }
