/**
 * The two lines on top of every report: the verdicts on the pack, and the evidence for it besides its operator's own
 * statement.
 */
import type { Anchoring, Report } from "@flyball/evidence"
import type { ReplayReport } from "./replay/replay-report.ts"

/** How decisions came into the chain, as their records say: how many have each value; `not_stated` where none is. */
export interface Capture {
  readonly mode: { readonly [value: string]: number }
  readonly decided_by: { readonly [value: string]: number }
  /**
   * `capture` of the records: what the writers claim. Only that a key may claim `mediated` is checked, by `--replay`.
   */
  readonly claimed: { readonly [value: string]: number }
}

/** The member `assurance` of `--json`. */
export interface Assurance {
  /** The line of the report for people. */
  readonly text: string
  readonly anchoring: Anchoring
  /** Pinned witnesses whose cosignatures verified, by their names. */
  readonly witnesses: number
  /** Null where decisions were not counted (`--summary`). */
  readonly capture: Capture | null
  /** Acts that require two people and have one; null where that was not checked (`--replay`). */
  readonly self_approved: number | null
}

/** Names of the four verdicts. */
export const verdictNames = ["integrity", "authenticity", "completeness", "anchoring"] as const

/** The four verdicts in one line. */
export const integrityLine = ({ verdicts }: Report): string =>
  verdictNames.map((name) => `${name} ${verdicts[name]}`).join(", ") + "."

/**
 * Summarizes the evidence that supports a pack. `capture`, `replay`: null where they were not requested, or could not
 * be had.
 */
export const assuranceOf = (report: Report, capture: Capture | null, replay: ReplayReport | null): Assurance => {
  const { cosignatures, verdicts } = report
  const rest = {
    anchoring: verdicts.anchoring,
    witnesses: new Set(cosignatures.map(({ name }) => name)).size,
    capture,
    self_approved: replay === null ? null : (replay.four_eyes.verdicts.second_person_missing ?? 0)
  }
  const text =
    verdicts.integrity === "ok"
      ? `${[anchor(rest), captured(capture), approved(rest)].join("; ")}.`
      : `none: ${whyNotIntact(report)}.`
  return { text, ...rest }
}

/** States why nothing is concluded from a pack. Of a file that was not read nothing is known, not even that it lies. */
export const whyNotIntact = ({ verdicts }: Pick<Report, "verdicts">): string =>
  verdicts.integrity === "not_checked"
    ? "the file could not be read as an evidence pack"
    : "the records are not what the pack claims"

const anchor = ({ anchoring, witnesses }: Pick<Assurance, "anchoring" | "witnesses">): string => {
  const by = `witnessed by ${witnesses} operator${witnesses === 1 ? "" : "s"}`
  switch (anchoring) {
    case "witnessed":
      return by
    case "stale":
      return `${by}, but longer ago than required`
    case "timestamped":
      return "timestamped"
    case "consistent_with_trusted_checkpoint":
      return "continues the checkpoint that you kept"
    case "none":
      return "unanchored"
  }
}

const captured = (capture: Capture | null): string => {
  if (capture === null) return "capture tiers not counted (--summary counts them)"
  const mode = counted(capture.mode)
  if (mode === "") return "no decisions captured"
  return `capture tiers ${mode}${stated(", decided by ", capture.decided_by)}${stated(", claimed ", capture.claimed)}`
}

/** Nothing where no record states a value. */
const stated = (words: string, values: { readonly [value: string]: number }): string =>
  Object.keys(values).some((value) => value !== NOT_STATED) ? `${words}${counted(values)}` : ""

const approved = ({ self_approved: count }: Pick<Assurance, "self_approved">): string =>
  count === null ? "self-approval not checked (--replay checks it)" : `self-approved ${count}`

/** Where a record does not state a value. */
export const NOT_STATED = "not_stated"

const counted = (values: { readonly [value: string]: number }): string =>
  Object.entries(values)
    .map(([value, count]) => `${value} ${count}`)
    .join(", ")
