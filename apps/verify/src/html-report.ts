/**
 * The report as a page for people: one file without scripts and without anything from elsewhere, which prints well.
 *
 * A pack is hostile input. Every text passes `escaped`, and the page's own policy forbids scripts, forms and loads.
 */
import { portableCrypto, type Report, toBase64, utf8, type Verdicts } from "@flyball/evidence"
import { assuranceOf, integrityLine } from "./assurance.ts"
import { bodyCounts } from "./bodies/bodies-report.ts"
import { coverageSentence } from "./coverage.ts"
import type { Extras } from "./extras.ts"
import { printable } from "./printable.ts"
import { actCounts } from "./replay/four-eyes-report.ts"
import { replayCounts } from "./replay/replay-text.ts"
import {
  contents,
  type Entry,
  explainedFinding,
  explainedVerdicts,
  facts,
  furtherEntries,
  resultSentence
} from "./report-facts.ts"
import { summaryEntries, summaryTitle } from "./summary/summary-text.ts"

/** The page. `nowMs`: when the pack was verified; milliseconds since 1970 UTC. */
export const htmlReport = (report: Report, extras: Extras, nowMs: number): string => {
  const { bodies, previous, replayed, splitView, summary } = extras
  const replay = replayed?.replay ?? null
  const coverage = coverageSentence(report)
  const [holding, open] = verdictLists(report)
  const sections = [
    `<h1>Evidence report</h1>`,
    `<p class="result status${report.exit}">${escaped(resultSentence(report, replayed))}</p>`,
    table([
      ["Integrity", integrityLine(report)],
      ["Assurance", assuranceOf(report, summary?.capture ?? null, replay).text],
      ...facts(report, previous),
      ...(report.checkpoint === null ? [] : [["Contents", contents(report)] as const]),
      ...(replay === null
        ? []
        : ([
            ["Evaluations", replayCounts(replay)],
            ["Four eyes", actCounts(replay.four_eyes)]
          ] as const)),
      ...(bodies === null ? [] : [["Bodies", bodyCounts(bodies)] as const]),
      ["Verified", `${new Date(nowMs).toISOString()}, with exit status ${report.exit}`]
    ]),
    heading("What holds"),
    list(holding, "Nothing."),
    heading("What was not proved"),
    list([...open, ...report.not_checked], "Nothing of what this verifier checks."),
    heading(`Findings: ${report.findingCount}`),
    findings(report),
    splitView === null
      ? ""
      : [
          heading("Two checkpoints that contradict each other"),
          ...splitView.notes.map((note) => `<pre>${escapedLines(note)}</pre>`)
        ].join("\n"),
    ...furtherEntries({ bodies, replayed }).map(entry),
    summary === null
      ? `${heading("Who acted")}<p>No summary: it is made of an intact pack alone.</p>`
      : [heading("Who acted"), `<p>${escaped(summaryTitle(summary))}.</p>`, ...summaryEntries(summary).map(entry)].join(
          "\n"
        ),
    heading("What this says"),
    ...[report.statement, ...(replay === null ? [] : [replay.statement]), ...(coverage === null ? [] : [coverage])].map(
      (sentence) => `<p>${escaped(sentence)}</p>`
    )
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>Evidence report</title>
<style>${STYLE}</style>
</head>
<body>
${sections.filter((section) => section !== "").join("\n")}
</body>
</html>
`
}

/** Text of any origin, as text of an element. */
const escaped = (text: string): string => marked(printable(text))

/** The same of several lines. */
const escapedLines = (text: string): string => text.trimEnd().split("\n").map(escaped).join("\n")

const marked = (text: string): string => text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

const heading = (text: string): string => `<h2>${escaped(text)}</h2>`

const table = (rows: ReadonlyArray<readonly [label: string, text: string]>): string =>
  [
    "<table>",
    ...rows.map(([label, text]) => `<tr><th scope="row">${escaped(label)}</th><td>${escaped(text)}</td></tr>`),
    "</table>"
  ].join("\n")

const list = (items: ReadonlyArray<string>, none: string): string =>
  items.length === 0
    ? `<p>${escaped(none)}</p>`
    : `<ul>\n${items.map((item) => `<li>${escaped(item)}</li>`).join("\n")}\n</ul>`

const entry = ({ items, title }: Entry): string =>
  `<h3>${escaped(title)}</h3>${items.length === 0 ? "" : list(items, "")}`

const findings = (report: Report): string => {
  const { findingCount, findings: listed } = report
  if (findingCount === 0) return "<p>None.</p>"
  const items = listed.map((one) => {
    const [meaning, values] = explainedFinding(one, report)
    return `<li>${escaped(meaning)}<br><span class="values">${escaped(values)}</span></li>`
  })
  const more = findingCount - listed.length
  return `<ul>\n${items.join("\n")}\n</ul>${more === 0 ? "" : `<p>And ${more} more.</p>`}`
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

const STYLE = `
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

/** The style by its digest: no other style applies, and nothing else at all. */
const POLICY =
  `default-src 'none'; style-src 'sha256-${toBase64(portableCrypto.sha256(utf8(STYLE)))}'; ` +
  "base-uri 'none'; form-action 'none'"
