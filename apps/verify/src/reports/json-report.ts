/** The report as JSON. Its top level is a promise to programs: members are added, never renamed. */
import type { Report } from "@flyball/evidence"
import { assuranceOf, integrityLine } from "../assurance.ts"
import { type Extras, noExtras } from "../extras.ts"
import type { ShownPrevious } from "../previous-chain.ts"

/** The text of `--json`. */
export const jsonReport = (report: Report, some: Partial<Extras> = {}): string => {
  const { answer, bodies, certificate, previous, replayed, summary, usage } = { ...noExtras, ...some }
  const { counts, file, findings, format, keys, not_checked, origin, statement, tree_size, verdicts } = report
  const replay = replayed?.replay ?? null
  const members = {
    file,
    format,
    origin,
    tree_size,
    verdicts,
    findings,
    counts,
    keys,
    not_checked,
    statement,
    previous: follows(previous),
    replay,
    bodies,
    integrity: integrityLine(report),
    assurance: assuranceOf(report, summary?.capture ?? null, replay),
    summary,
    certificate,
    usage,
    answer
  }
  return `${JSON.stringify(members, null, 2)}\n`
}

const follows = (previous: ShownPrevious | null) =>
  previous === null || typeof previous === "string"
    ? null
    : { origin: previous.origin, signed_size: previous.signedSize, stored_size: previous.storedSize }
