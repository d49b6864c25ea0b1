/** States what a pack proves, in one sentence that a court clerk could read out. */
import { formatInstant } from "../record/instant.ts"
import { exitClass } from "./findings.ts"
import type { Report } from "./report.ts"

/** The parts of a report that the sentence is made from. */
export type Stated = Pick<
  Report,
  | "origin"
  | "tree_size"
  | "verdicts"
  | "findings"
  | "findingCount"
  | "counts"
  | "keys"
  | "cosignatures"
  | "exit"
  | "header"
>

/** The statement of a report. */
export const statementOf = (report: Stated): string => {
  if (report.verdicts.integrity === "not_checked")
    return `This file could not be read as an evidence pack (${firstFinding(report, true)}), so it proves nothing.`
  if (report.exit === 1 || report.exit === 3)
    return `This pack is not what it claims to be (${firstFinding(report)}): do not rely on it. ${LIMITS}`
  return `${subject(report)}, ${signer(report)}${anchor(report)}; ${LIMITS_INSIDE}`
}

const LIMITS_INSIDE =
  "no chain proves anything about events never sent to it, false content at capture, or an operator who holds " +
  "the key and the store and has no anchor outside."
const LIMITS = `N${LIMITS_INSIDE.slice(1)}`

/** `unreadable`: the finding that ended the reading, whatever was found before it. */
const firstFinding = ({ findingCount, findings }: Stated, unreadable = false): string => {
  const first = unreadable ? findings.findLast(({ code }) => exitClass(code) === 3) : findings[0]
  if (first === undefined) return "no finding"
  const place = [first.line === null ? [] : [`line ${first.line}`], first.seq === null ? [] : [`record ${first.seq}`]]
    .flat()
    .join(", ")
  return (
    `${findingCount === 1 ? "one finding" : `${findingCount} findings, the ${unreadable ? "last" : "first"}`}: ` +
    `${first.code}${place === "" ? "" : ` at ${place}`}`
  )
}

const subject = ({ counts, header, origin, tree_size }: Stated): string => {
  const checkpoint = `checkpoint of size ${tree_size}`
  if (header!.kind === "full")
    return `Records ${header!.from} to ${header!.to} of ${origin} are exactly those committed by its ${checkpoint}`
  if (header!.kind === "range")
    return (
      `Records ${header!.from} to ${header!.to} of ${origin} are exactly those that its ${checkpoint} ` +
      "commits to in that range"
    )
  if (counts.records === 0) return `This pack holds no record of ${origin}, and a ${checkpoint}`
  return (
    `The ${counts.records === 1 ? "one record" : `${counts.records} records`} in this pack ` +
    `${counts.records === 1 ? "is" : "are"} among those of ${origin} committed by its ${checkpoint}`
  )
}

const signer = ({ keys, verdicts }: Stated): string => {
  const logs = keys.filter((key) => key.role === "log")
  const named = (ids: ReadonlyArray<string>): string => `key${ids.length === 1 ? "" : "s"} ${ids.join(" and ")}`
  if (verdicts.authenticity === "signed_by_pinned_key")
    return `signed by the pinned ${named(logs.map((key) => key.key_id))}`
  // What the checkpoint shows and what the pack as a whole shows may differ; the worse of the two is the verdict.
  const unpinned = logs.filter((key) => !key.pinned)
  const partly = unpinned.length < logs.length ? "in part " : ""
  if (verdicts.authenticity === "signed_by_unpinned_key")
    return `signed ${partly}by ${named(unpinned.map((key) => key.key_id))}, which nobody pinned`
  return logs.length === 0
    ? "which carries no signature that could be checked"
    : "but the checkpoint or the pack as a whole carries no signature that could be checked"
}

const anchor = ({ cosignatures, verdicts }: Stated): string => {
  if (verdicts.completeness === "truncated")
    return ", but the trusted checkpoint is larger, so the end of the chain is missing here"
  if (verdicts.anchoring === "consistent_with_trusted_checkpoint") return ", and consistent with the trusted checkpoint"
  if (verdicts.anchoring === "none" || cosignatures.length === 0) return ""
  const who = cosignatures.map(({ name, timeS }) => `${name} at ${instant(timeS)}`).join(", ")
  return (
    `, cosigned by ${cosignatures.length === 1 ? "one witness" : `${cosignatures.length} witnesses`} ` +
    `(${who})${verdicts.anchoring === "stale" ? ", but longer ago than required" : ""}`
  )
}

const instant = (timeS: number): string => {
  try {
    return formatInstant(timeS * 1000)
  } catch {
    return `second ${timeS}`
  }
}
