/** Two packs of one chain: do they show one history? Spec: format 1 section 6, E_SPLIT_VIEW. */
import type { ExitStatus, Finding, Report } from "./report.ts"
import { MAX_LISTED_FINDINGS } from "./report.ts"

/** What the comparison found. */
export type Comparison =
  | { readonly outcome: "one history" }
  | { readonly outcome: "split view"; readonly size: number; readonly rootHex: string; readonly otherRootHex: string }
  | { readonly outcome: "undecided"; readonly why: string }

/**
 * Compares the histories that two verified packs show.
 *
 * It needs the root of the larger one at the size of the smaller: verify each with `rootsAt` of the other's checkpoint size.
 */
export const compareHistories = (one: Report, other: Report): Comparison => {
  if (one.checkpoint === null || other.checkpoint === null) return undecided("one of the packs cannot be read")
  if (one.origin !== other.origin) return undecided("the packs are of different origins")
  if (!isSigned(one) || !isSigned(other)) return undecided("one of the checkpoints carries no signature that verifies, so it binds nobody")
  for (const [size, rootHex] of one.roots) {
    const otherRootHex = other.roots.get(size)
    if (otherRootHex !== undefined && otherRootHex !== rootHex) return { outcome: "split view", size, rootHex, otherRootHex }
  }
  const smaller = Math.min(one.checkpoint.size, other.checkpoint.size)
  if (one.roots.has(smaller) && other.roots.has(smaller)) return { outcome: "one history" }
  return undecided(`the larger pack does not hold what its root at size ${smaller} is computed from. Ask for a full pack, or for one with that checkpoint inside`)
}

/**
 * The report on the first pack, with what the comparison with another adds to it.
 *
 * The exit status is the worst of both packs and the comparison: two packs were given, and a bad one must not pass unseen.
 */
export const withComparison = (report: Report, other: Report, comparison: Comparison): Report => {
  const beside = otherProblems(other)
  if (comparison.outcome === "split view") {
    const finding: Finding = {
      code: "E_SPLIT_VIEW",
      line: null,
      seq: null,
      expected: `one root at size ${comparison.size} in both packs`,
      found: `${comparison.rootHex} here, ${comparison.otherRootHex} in the other pack`
    }
    const { completeness } = report.verdicts
    return {
      ...report,
      verdicts: { ...report.verdicts, integrity: "broken", completeness: completeness === "truncated" ? completeness : "not_checked" },
      findings: [finding, ...report.findings].slice(0, MAX_LISTED_FINDINGS),
      findingCount: report.findingCount + 1,
      not_checked: [...beside, ...report.not_checked],
      statement: `The log ${report.origin} has signed two different histories: its checkpoints in these two packs contradict each other at size ${comparison.size}. Keep both packs: together they prove it.`,
      exit: worst(report.exit, worst(other.exit, 1))
    }
  }
  if (comparison.outcome === "one history") return { ...report, not_checked: [...beside, ...report.not_checked], exit: worst(report.exit, other.exit) }
  const why = `The two packs could not be compared: ${comparison.why}.`
  return { ...report, not_checked: [why, ...beside, ...report.not_checked], exit: worst(report.exit, worst(other.exit, 2)) }
}

const undecided = (why: string): Comparison => ({ outcome: "undecided", why })

const isSigned = ({ verdicts }: Report): boolean =>
  verdicts.authenticity === "signed_by_pinned_key" || verdicts.authenticity === "signed_by_unpinned_key"

const otherProblems = (other: Report): ReadonlyArray<string> => {
  if (other.exit === 0) return []
  const codes = [...new Set(other.findings.map((finding) => finding.code))]
  return [`The other pack has problems of its own${codes.length === 0 ? "" : ` (${codes.join(", ")})`}: verify it alone to see them.`]
}

/** Spec: format 1 section 6, "the order of precedence is 4, 3, 1, 2, 0". */
const worst = (a: ExitStatus, b: ExitStatus): ExitStatus => PRECEDENCE.find((status) => status === a || status === b)!

const PRECEDENCE: ReadonlyArray<ExitStatus> = [3, 1, 2, 0]
