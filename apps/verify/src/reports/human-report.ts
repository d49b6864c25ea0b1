/** The report in plain sentences, for the person who has to decide something. */
import type { Finding, Report } from "@flyball/evidence"
import { type Extras, noExtras } from "../extras.ts"
import { summaryEntries, summaryTitle } from "../summary/summary-text.ts"
import { printable } from "./printable.ts"
import {
  assurances,
  type Entry,
  explainedFinding,
  explainedVerdicts,
  facts,
  furtherEntries,
  type Line,
  meaning,
  resultLines,
  resultSentence
} from "./report-facts.ts"

/** The text of a report. */
export const humanReport = (report: Report, some: Partial<Extras> = {}): string => {
  const extras = { ...noExtras, ...some }
  const { replayed, splitView, summary } = extras
  const sections = [
    entries(assurances(report, extras)),
    entries(facts(report, extras)),
    entry("Result", resultSentence(report, replayed)),
    explainedVerdicts(report).flatMap(({ name, sentence, value }) => verdict(name, value, sentence)),
    ...resultLines(report, extras).map(entries),
    splitView === null
      ? []
      : [
          "The two checkpoints that contradict each other:",
          ...splitView.notes.flatMap((note) => [
            "",
            ...note
              .trimEnd()
              .split("\n")
              .map((line) => `    ${printable(line)}`)
          ])
        ],
    ...(summary === null ? [] : [[summaryTitle(summary)], ...summaryEntries(summary).map(listLines)]),
    findings(report),
    ...furtherEntries(extras).map(listLines),
    report.not_checked.length === 0
      ? []
      : [
          "Not checked, ignored or missing",
          ...report.not_checked.flatMap((sentence) => wrap(sentence, "  - ", "    "))
        ],
    ["Meaning", ...meaning(report, extras).flatMap((sentence) => wrap(sentence, "  ", "  "))]
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n\nExit status ${report.exit}\n`
}

const WIDTH = 100
const LABEL = 16

const findings = (report: Report): ReadonlyArray<string> => {
  const { findingCount, findings: listed } = report
  if (findingCount === 0) return ["Findings", "  None."]
  const shown = listed.length < findingCount ? `, the first ${listed.length} of them here` : ""
  return [`Findings: ${findingCount}${shown}`, ...listed.flatMap((one) => finding(one, report))]
}

/** A title of one line may hold the text of a pack, as its items do. */
const listLines = ({ items, title }: Entry): ReadonlyArray<string> => [
  printable(title),
  ...items.flatMap((item) => wrap(item, "  - ", "    "))
]

const finding = (one: Finding, report: Report): ReadonlyArray<string> => {
  const [meaning, values] = explainedFinding(one, report)
  return [...wrap(meaning, "  - ", "    "), ...wrap(values, "    ", "    ")]
}

const verdict = (name: string, value: string, sentence: string): ReadonlyArray<string> =>
  entry(`${name[0]!.toUpperCase()}${name.slice(1)}`, `${value}. ${sentence}`)

const entry = (label: string, text: string): ReadonlyArray<string> => wrap(text, label.padEnd(LABEL), " ".repeat(LABEL))

const entries = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  lines.flatMap(([label, text]) => entry(label, text))

/** Breaks a text at spaces; a word that is too long stands alone. */
const wrap = (text: string, first: string, rest: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = first
  let empty = true
  for (const word of printable(text).split(" ")) {
    if (!empty && line.length + 1 + word.length > WIDTH) {
      lines.push(line.trimEnd())
      line = rest
      empty = true
    }
    line += empty ? word : ` ${word}`
    empty = false
  }
  return [...lines, line.trimEnd()]
}
