/** Two packs of one chain: do they show one history? Spec: format 1 section 6, E_SPLIT_VIEW. */
import type { ExitStatus, Finding, Report } from "./report.ts"
import { MAX_LISTED_FINDINGS } from "./report.ts"

/** The signer of both checkpoints: the log, by keys that the user pinned, or one unpinned key. */
export type CommonSigner = { readonly pinned: true } | { readonly pinned: false; readonly keyId: string }

/** Result of the comparison. Spec: format 1 section 6.1, "Two packs". */
export type Comparison =
  | { readonly outcome: "one history" }
  | {
      readonly outcome: "split view"
      readonly signer: CommonSigner
      readonly size: number
      readonly rootHex: string
      readonly otherRootHex: string
    }
  | { readonly outcome: "undecided"; readonly why: string }

/**
 * Compares the histories that two verified packs show.
 *
 * It needs the roots of each at the sizes that the other shows: verify each with `rootsAt` of the other's checkpoint
 * sizes, the older one's (G) among them. Spec: format 1 section 6.1, "Two packs".
 */
export const compareHistories = (one: Report, other: Report): Comparison => {
  if (one.checkpoint === null || other.checkpoint === null) return undecided("one of the packs cannot be read")
  if (one.origin !== other.origin) return undecided("the packs are of different origins")
  if (!isSigned(one) || !isSigned(other))
    return undecided("one of the checkpoints carries no signature that verifies, so it binds nobody")
  const signer = commonSigner(one, other)
  for (const [size, rootHex] of one.roots) {
    const otherRootHex = other.roots.get(size)
    if (otherRootHex === undefined || otherRootHex === rootHex) continue
    // Anybody can sign a history of their own under the log's name; that says nothing about the log.
    if (signer === null)
      return undecided(
        "they show two histories, but no key that you pinned signed both and no other key did either, so one " +
          "of them may be somebody else's work"
      )
    return { outcome: "split view", signer, size, rootHex, otherRootHex }
  }
  const smaller = Math.min(one.checkpoint.size, other.checkpoint.size)
  if (one.roots.has(smaller) && other.roots.has(smaller)) return { outcome: "one history" }
  return undecided(
    `the larger pack does not hold what its root at size ${smaller} is computed from. Ask for a full pack, or ` +
      "for one with that checkpoint inside"
  )
}

/**
 * The report on the first pack, with what the comparison with another adds to it.
 *
 * The exit status is the worst of both packs and the comparison: two packs were given, and a bad one must not pass
 * unseen. Spec: format 1 section 6.1, "Two packs".
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
      verdicts: {
        ...report.verdicts,
        integrity: "broken",
        completeness: completeness === "truncated" ? completeness : "not_checked"
      },
      findings: listedWith(finding, report.findings),
      findingCount: report.findingCount + 1,
      not_checked: [...beside, ...report.not_checked],
      statement: splitStatement(report.origin!, comparison.signer, comparison.size),
      exit: worst(report.exit, worst(other.exit, 1))
    }
  }
  if (comparison.outcome === "one history")
    return { ...report, not_checked: [...beside, ...report.not_checked], exit: worst(report.exit, other.exit) }
  const why = `The two packs could not be compared: ${comparison.why}.`
  return {
    ...report,
    not_checked: [why, ...beside, ...report.not_checked],
    exit: worst(report.exit, worst(other.exit, 2))
  }
}

const undecided = (why: string): Comparison => ({ outcome: "undecided", why })

/** Only the checkpoint counts: a pack that was closed wrongly does not unsay what the log signed. */
const isSigned = ({ checkpoint }: Report): boolean => checkpoint!.signers.length > 0

const commonSigner = (one: Report, other: Report): CommonSigner | null => {
  const [signers, others] = [one.checkpoint!.signers, other.checkpoint!.signers]
  // A log that rotated its key is one log: any two of the keys that the user vouches for will do.
  if (signers.some((key) => key.pinned) && others.some((key) => key.pinned)) return { pinned: true }
  const common = signers.find((key) => others.some(({ publicKeyHex }) => publicKeyHex === key.publicKeyHex))
  return common === undefined ? null : { pinned: false, keyId: common.keyId }
}

const splitStatement = (origin: string, signer: CommonSigner, size: number): string =>
  `${signer.pinned ? `The log ${origin}` : `Key ${signer.keyId}, which nobody pinned, in the name of ${origin},`} ` +
  "has signed two different histories: its checkpoints in these two packs contradict each other at size " +
  `${size}. Keep both packs: together they prove it.`

/** One finding more in front; where the list is full, one goes whose code stays listed. */
const listedWith = (finding: Finding, listed: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  if (listed.length < MAX_LISTED_FINDINGS) return [finding, ...listed]
  const repeated = listed.findLastIndex(({ code }, i) => listed.findIndex((one) => one.code === code) !== i)
  return [finding, ...listed.toSpliced(repeated, 1)]
}

const otherProblems = (other: Report): ReadonlyArray<string> => {
  if (other.exit === 0) return []
  const codes = [...new Set(other.findings.map((finding) => finding.code))]
  return [
    `The other pack has problems of its own${codes.length === 0 ? "" : ` (${codes.join(", ")})`}: verify it ` +
      "alone to see them."
  ]
}

/** Spec: format 1 section 6, "the order of precedence is 4, 3, 1, 2, 0". */
const worst = (a: ExitStatus, b: ExitStatus): ExitStatus => PRECEDENCE.find((status) => status === a || status === b)!

const PRECEDENCE: ReadonlyArray<ExitStatus> = [3, 1, 2, 0]
