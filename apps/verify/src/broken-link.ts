/** Which record may have been changed where two neighbours do not fit: the question that everyone asks first. */
import type { Finding, Report } from "@flyball/evidence"

/**
 * The sentence for an `E_PREV`; null for other findings.
 *
 * A record holds the hash of the one before it. So a changed record shows at the record after it, and one whose own
 * link was changed
 * shows at itself and at the record after it. What the pack does not show stays open in the sentence.
 */
export const brokenLinkText = ({ code, seq }: Finding, report: Report): string | null => {
  if (code !== "E_PREV" || seq === null) return null
  if (seq === 0) return "Record 0 names a record before it, which cannot exist: record 0 was changed."
  const sealed = `Record ${seq} was sealed after a different record ${seq - 1}`
  const next = linkOf(report, seq + 1)
  if (next === "fits")
    return `${sealed}: record ${seq - 1} was changed, or record ${seq} and all after it were replaced.`
  if (next === "broken")
    return (
      `${sealed}, and record ${seq + 1} after another record ${seq}: record ${seq} was changed, and ` +
      `record ${seq - 1} may have been.`
    )
  return `${sealed}: record ${seq - 1} was changed, or record ${seq} was.`
}

/** Judges the link of a record to the one before it, as far as the report knows. */
const linkOf = ({ findingCount, findings, header }: Report, seq: number): "fits" | "broken" | "unknown" => {
  const codes = findings.filter((finding) => finding.seq === seq).map(({ code }) => code)
  if (codes.includes("E_PREV")) return "broken"
  const isKnown = findings.length === findingCount && header !== null && header.kind !== "sparse" && seq <= header.to
  return isKnown && !codes.some((code) => UNLINKED.has(code)) && !findings.some(({ code }) => code === "E_COUNT")
    ? "fits"
    : "unknown"
}

/** After these nothing was said about a record's link. */
const UNLINKED: ReadonlySet<Finding["code"]> = new Set(["E_LIMIT", "E_NONCANONICAL", "E_SEQ", "E_VERSION"])
