/**
 * The report for people as a tree of elements: the page that `--html` writes and the page in a browser show the same
 * one.
 *
 * A pack is hostile input. Texts stand in the tree as they are; each writer shows them as text, and never markup.
 */
import type { Report, Verdicts } from "@flyball/evidence"
import type { Extras } from "../extras.ts"
import { summaryEntries, summaryTitle } from "../summary/summary-text.ts"
import { printable, printableLines } from "./printable.ts"
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

/** An element. `name`: its class. A `th` is the head of its row. */
export interface ReportElement {
  readonly tag: "br" | "h1" | "h2" | "h3" | "li" | "p" | "pre" | "span" | "table" | "td" | "th" | "tr" | "ul"
  readonly name?: string
  readonly children: ReadonlyArray<ReportElement | string>
}

/** The report. `nowMs`: when the pack was verified; milliseconds since 1970 UTC. */
export const reportTree = (report: Report, extras: Extras, nowMs: number): ReadonlyArray<ReportElement> => {
  const { replayed, splitView, summary } = extras
  const [holding, open] = verdictLists(report)
  return [
    element("h1", "Evidence report"),
    { tag: "p", name: `result status${report.exit}`, children: [resultSentence(report, replayed)] },
    table([
      ...assurances(report, extras),
      ...facts(report, extras),
      ...resultLines(report, extras).flat(),
      ["Verified", `${new Date(nowMs).toISOString()}, with exit status ${report.exit}`]
    ]),
    element("h2", "What holds"),
    list(holding, "Nothing."),
    element("h2", "What was not proved"),
    list([...open, ...report.not_checked], "Nothing."),
    element("h2", `Findings: ${report.findingCount}`),
    ...findings(report),
    ...(splitView === null
      ? []
      : [
          element("h2", "Two checkpoints that contradict each other"),
          ...splitView.notes.map((note) => element("pre", note.trimEnd()))
        ]),
    ...furtherEntries(extras).flatMap(entry),
    element("h2", "Who acted"),
    ...(summary === null
      ? [element("p", "No summary: only an intact pack has one.")]
      : [element("p", `${summaryTitle(summary)}.`), ...summaryEntries(summary).flatMap(entry)]),
    element("h2", "Meaning"),
    ...meaning(report, extras).map((sentence) => element("p", sentence))
  ]
}

/** A text of the tree as it is shown: without characters that steer a reader's eye. Only `pre` has lines. */
export const shownText = (tag: ReportElement["tag"], text: string): string =>
  tag === "pre" ? printableLines(text) : printable(text)

const element = (tag: ReportElement["tag"], ...children: ReportElement["children"]): ReportElement => ({
  tag,
  children
})

const table = (rows: ReadonlyArray<Line>): ReportElement =>
  element("table", ...rows.map(([label, text]) => element("tr", element("th", label), element("td", text))))

const list = (items: ReadonlyArray<string>, none: string): ReportElement =>
  items.length === 0 ? element("p", none) : element("ul", ...items.map((item) => element("li", item)))

const entry = ({ items, title }: Entry): ReadonlyArray<ReportElement> => [
  element("h3", title),
  ...(items.length === 0 ? [] : [list(items, "")])
]

const findings = (report: Report): ReadonlyArray<ReportElement> => {
  const { findingCount, findings: listed } = report
  if (findingCount === 0) return [element("p", "None.")]
  const items = listed.map((one) => {
    const [meaning, values] = explainedFinding(one, report)
    return element("li", meaning, element("br"), { tag: "span", name: "values", children: [values] })
  })
  const more = findingCount - listed.length
  return [element("ul", ...items), ...(more === 0 ? [] : [element("p", `And ${more} more.`)])]
}

/** The verdicts that hold, and the others. */
const verdictLists = (report: Report): readonly [holding: ReadonlyArray<string>, open: ReadonlyArray<string>] => {
  const all = explainedVerdicts(report).map(({ name, sentence, value }) => ({
    holds: HOLDING[name].includes(value),
    text: `${name[0]!.toUpperCase()}${name.slice(1)}: ${value}. ${sentence}`
  }))
  const some = (held: boolean): ReadonlyArray<string> =>
    all.filter(({ holds }) => holds === held).map(({ text }) => text)
  return [some(true), some(false)]
}

const HOLDING: { readonly [name in keyof Verdicts]: ReadonlyArray<string> } = {
  integrity: ["ok"],
  authenticity: ["signed_by_pinned_key"],
  completeness: ["full", "range"],
  anchoring: ["witnessed", "timestamped", "consistent_with_trusted_checkpoint"]
}

/** The style of a report, on a screen and on paper. */
export const reportStyle = `
body { font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff;
  max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 1.8rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
table { border-collapse: collapse; } th { text-align: left; vertical-align: top;
  padding: .2rem 1rem .2rem 0; white-space: nowrap; }
td, li, p, pre, h3 { overflow-wrap: anywhere; } td { padding: .2rem 0; } pre { white-space: pre-wrap; }
.result { border-left: .4rem solid #a00; padding: .6rem .8rem; font-weight: 600; }
.status0 { border-color: #070; } .status2 { border-color: #b60; }
.values { color: #444; font-size: .9em; }
@media print { body { margin: 0; max-width: none; } h2, h3 { break-after: avoid; } li, tr { break-inside: avoid; } }
`
