/** The report in plain sentences, for the person who has to decide something. */
import type { Finding, Report } from "@flyball/evidence"
import { assuranceOf, integrityLine } from "./assurance.ts"
import { bodyCounts, bodyEntries } from "./bodies/bodies-report.ts"
import { brokenLinkText } from "./broken-link.ts"
import { findingText, resultText, unfaithfulText, verdictText } from "./explanations.ts"
import { coverageSentence } from "./coverage.ts"
import type { Extras } from "./extras.ts"
import type { ShownPrevious } from "./previous-chain.ts"
import { printable } from "./printable.ts"
import { actCounts } from "./replay/four-eyes-report.ts"
import { notReplayedEntry } from "./replay/not-replayed.ts"
import { replayCounts, replayEntries } from "./replay/replay-text.ts"
import { type Entry, summaryEntries, summaryTitle } from "./summary/summary-text.ts"

/** The text of a report. */
export const humanReport = (
  report: Report,
  { bodies = null, previous = null, replayed = null, splitView = null, summary = null }: Partial<Extras> = {}
): string => {
  const { counts, exit, verdicts } = report
  const coverage = coverageSentence(report)
  const sections = [
    [
      ...entry("Integrity", integrityLine(report)),
      ...entry("Assurance", assuranceOf(report, summary?.capture ?? null, replayed?.replay ?? null).text)
    ],
    [...about(report), ...(previous === null ? [] : entry("Follows", follows(previous)))],
    entry("Result", exit === 1 && replayed !== null && replayed.packExit !== 1 ? unfaithfulText : resultText[exit]),
    (["integrity", "authenticity", "completeness", "anchoring"] as const).flatMap((name) =>
      verdict(name, verdicts[name], (verdictText[name] as { readonly [value: string]: string })[verdicts[name]]!)
    ),
    report.checkpoint === null
      ? []
      : entry(
          "Contents",
          [
            count(counts.records, "record"),
            `${count(counts.parts_disclosed, "part")} disclosed`,
            `${counts.parts_withheld} withheld`,
            `${counts.parts_erased} erased`
          ].join(", ") + "."
        ),
    replayed === null || replayed.replay === null
      ? []
      : [
          ...entry("Evaluations", replayCounts(replayed.replay)),
          ...entry("Four eyes", actCounts(replayed.replay.four_eyes))
        ],
    bodies === null ? [] : entry("Bodies", bodyCounts(bodies)),
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
    ...[
      ...(bodies === null ? [] : bodyEntries(bodies)),
      ...(replayed === null || replayed.replay === null ? [] : [...replayEntries(replayed.replay), notReplayedEntry])
    ].map(listLines),
    report.not_checked.length === 0
      ? []
      : [
          "Not checked, ignored or missing",
          ...report.not_checked.flatMap((sentence) => wrap(sentence, "  - ", "    "))
        ],
    [
      "What this says",
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

const about = ({ checkpoint, file, header, origin }: Report): ReadonlyArray<string> => [
  ...entry("Evidence pack", file ?? "given in memory"),
  ...(origin === null ? [] : entry("Chain", origin)),
  ...(header === null || checkpoint === null
    ? []
    : entry("Covers", `${covers(header)}, in a chain of ${count(checkpoint.size, "record")}`)),
  ...(header === null
    ? []
    : entry("Made", `${header.created.slice(0, 10)} ${header.created.slice(11, 19)} UTC, as the pack says`))
]

const covers = ({ from, kind, to }: NonNullable<Report["header"]>): string =>
  kind === "full"
    ? `all records, ${from} to ${to}`
    : kind === "range"
      ? `records ${from} to ${to}`
      : `a selection of the records ${from} to ${to}`

/** What a chain says of the one it was begun after. */
const follows = (previous: ShownPrevious): string => {
  if (typeof previous === "string") return "another chain, which this pack does not show as it has to; see below."
  const { origin, signedSize, storedSize } = previous
  return (
    `${origin}. This chain was begun after ` +
    `${signedSize === null ? "the memory of what was signed for that one was lost" : `${count(signedSize, "record")} of that one were signed`}, ` +
    "" +
    "" +
    "" +
    `when its store held ${storedSize}. A pack and a checkpoint of that chain, from before, show what is missing.`
  )
}

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
  const { code, expected, found, line, seq } = one
  const place = [...(seq === null ? [] : [`record ${seq}`]), ...(line === null ? [] : [`line ${line}`])].join(", ")
  return [
    ...wrap(
      `${brokenLinkText(one, report) ?? findingText[code]} (${code}${place === "" ? "" : `, ${place}`})`,
      "  - ",
      "    "
    ),
    ...wrap(`Expected ${expected}; found ${found}.`, "    ", "    ")
  ]
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

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
