/** The report in plain sentences, for the person who has to decide something. */
import type { Finding, Report } from "@flyball/evidence"
import { assuranceOf, integrityLine } from "../assurance.ts"
import { bodyCounts } from "../bodies/bodies-report.ts"
import { certificateEntries, certificateText } from "../certificate/certificate-text.ts"
import { coverageSentence } from "../coverage.ts"
import type { Extras } from "../extras.ts"
import { printable } from "./printable.ts"
import { actCounts } from "../replay/four-eyes-report.ts"
import { replayCounts } from "../replay/replay-text.ts"
import {
  contents,
  type Entry,
  explainedFinding,
  explainedVerdicts,
  facts,
  furtherEntries,
  resultSentence
} from "./report-facts.ts"
import { usageEntry, usageText } from "../usage/usage-text.ts"
import { summaryEntries, summaryTitle } from "../summary/summary-text.ts"

/** The text of a report. */
export const humanReport = (
  report: Report,
  {
    bodies = null,
    certificate = null,
    previous = null,
    replayed = null,
    splitView = null,
    summary = null,
    usage = null
  }: Partial<Extras> = {}
): string => {
  const { exit } = report
  const coverage = coverageSentence(report)
  const sections = [
    [
      ...entry("Integrity", integrityLine(report)),
      ...entry("Assurance", assuranceOf(report, summary?.capture ?? null, replayed?.replay ?? null).text)
    ],
    facts(report, previous).flatMap(([label, text]) => entry(label, text)),
    entry("Result", resultSentence(report, replayed)),
    explainedVerdicts(report).flatMap(({ name, sentence, value }) => verdict(name, value, sentence)),
    report.checkpoint === null ? [] : entry("Contents", contents(report)),
    replayed === null || replayed.replay === null
      ? []
      : [
          ...entry("Evaluations", replayCounts(replayed.replay)),
          ...entry("Four eyes", actCounts(replayed.replay.four_eyes))
        ],
    bodies === null ? [] : entry("Bodies", bodyCounts(bodies)),
    certificate === null ? [] : entry("Certificate", certificateText(certificate)),
    usage === null ? [] : entry("Usage", usageText(usage)),
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
    ...furtherEntries({ bodies, replayed }).map(listLines),
    ...(certificate === null ? [] : certificateEntries(certificate).map(listLines)),
    ...(usage === null ? [] : [listLines(usageEntry(usage))]),
    report.not_checked.length === 0
      ? []
      : [
          "Not checked, ignored or missing",
          ...report.not_checked.flatMap((sentence) => wrap(sentence, "  - ", "    "))
        ],
    [
      "Meaning",
      ...wrap(report.statement, "  ", "  "),
      ...(replayed === null || replayed.replay === null ? [] : wrap(replayed.replay.statement, "  ", "  ")),
      ...(coverage === null ? [] : wrap(coverage, "  ", "  "))
    ]
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n\nExit status ${exit}\n`
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
