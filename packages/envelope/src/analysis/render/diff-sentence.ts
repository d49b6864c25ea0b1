import type { DiffReport, Transition } from "../diff/diff-report.ts"
import type { Inputs } from "../cells/inputs.ts"
import { severityOf } from "../cells/ranking.ts"
import { renderValue } from "./value.ts"

/** Units of signals, by name. */
export type SignalUnits = ReadonlyMap<string, string>

/**
 * Summarises a diff for a person who decides on it: what is newly allowed first, each with its share, an example,
 * and how often it was seen.
 */
export const describeDiff = (report: Omit<DiffReport, "sentence">, units: SignalUnits = new Map()): string => {
  const { change, transitions } = report
  if (change === "equal") return "No outcome changes."
  const sentences = transitions.map((one) => `${heading(one)}: ${details(one, report.historyTotal, units)}.`)
  if (change === "unknown")
    sentences.unshift("Whether anything is newly allowed could not be decided within the budget.")
  else if (change === "tightening_only") sentences.unshift("Nothing is newly allowed; this version only tightens.")
  if (!report.complete) sentences.push("The list may lack transitions, and shares were not counted.")
  return sentences.join(" ")
}

const REVIEW = severityOf("require_review")

const heading = ({ from, to }: Transition): string => {
  const what =
    severityOf(to) < severityOf(from)
      ? severityOf(to) < REVIEW && severityOf(from) >= REVIEW
        ? "Newly allowed"
        : to === "require_review"
          ? "Newly open to review"
          : "Loosened"
      : severityOf(to) < REVIEW
        ? "Tightened"
        : to === "require_review"
          ? "Newly reviewed"
          : to === "deny"
            ? "Newly denied"
            : "Newly halted"
  return `${what} (${from} becomes ${to})`
}

const details = (
  { decidedBy, example, historyCount, share }: Transition,
  total: number | null,
  units: SignalUnits
): string =>
  [
    ...(share === null ? [] : [`${share} of the domain`]),
    ...(historyCount === null || total === null ? [] : [`${historyCount} of ${total} recorded evaluations`]),
    `for example ${describeInputs(example, units)}`,
    `${decidedBy.from} then, ${decidedBy.to} now`
  ].join("; ")

/** An input as a list of names and values. */
export const describeInputs = (inputs: Inputs, units: SignalUnits): string =>
  Object.entries(inputs)
    .map(([name, value]) => `${name} ${renderValue(value, units.get(name) ?? null)}`)
    .join(", ")
