/**
 * Writes the report of an analysis as one HTML page: no script, nothing from elsewhere, under 200 KB, two pages of
 * print. Pure: the same analysis gives the same bytes. Spec: api.md "Document 2".
 */
import type { AnalysedAttribute, AnalysedGroup, AnalysedMetric, FairnessReport, GroupRate } from "@flyball/contract"

/** Groups that have a row of their own: what fits two pages of print beside the metrics of so many columns. */
const rowsBeside = (columns: number): number => Math.min(36, 48 - 3 * columns)
/** Characters of a name. */
const MAX_NAME = 30

/** Writes the page. */
export const reportPage = (of: FairnessReport): string => {
  const { attributes, dataset_digest: digest, permutations, rows, tolerance } = of.report
  let room = rowsBeside(attributes.length)
  const shown = attributes.flatMap((attribute) => {
    const isShown = attribute.groups.length <= room
    if (isShown) room -= attribute.groups.length
    return isShown ? [attribute] : []
  })
  const left = attributes.length - shown.length
  const bias = of.bias_detected ? "<b class=bad>A difference is demonstrated.</b>" : "No difference is demonstrated."
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fairness report: ${text(of.model_id)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<h1>Fairness report</h1>
<p><b>${text(of.model_id)}</b>, ${rows.toLocaleString("en-US")} rows, ${of.created_at}.
Overall score <b>${decimal(of.overall_score)}</b>. ${bias}</p>
<p class=small>Analysis ${of.analysis_id}, data set ${digest}. Differences have an interval of 95 % for all pairs of
groups together, against a tolerance of ${decimal(tolerance)}; p is of ${permutations} random tables or shuffles, and
the adjusted p counts all tests of this page. Rates have exact intervals below 30 rows, else Wilson's. Calibration and
equal odds cannot both hold where base rates differ. These are counts, and no finding of law.</p>
${table(["Column", "Metric", "Value", "95 %", "Between", "p", "adjusted", "Verdict"], attributes.flatMap(summaryRows))}
${shown.map(detail).join("\n")}
${left > 0 ? `<p>The rates of ${left} more columns are in the analysis as JSON.</p>` : ""}
</body></html>
`
}

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<string>): string =>
  `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>
${rows.join("\n")}
</tbody></table>`

const style =
  "body{font:11px/1.35 system-ui,sans-serif;margin:2em auto;max-width:64em;padding:0 1em;color:#111}" +
  "h1{font-size:18px}h2{font-size:13px;margin:1.2em 0 .3em}table{border-collapse:collapse;width:100%}" +
  "th,td{text-align:left;padding:2px 5px;border-bottom:1px solid #ddd;vertical-align:top}" +
  ".small{color:#444;font-size:9px}.bad{color:#a00}small{color:#444;white-space:nowrap}tr{break-inside:avoid}" +
  "@media print{@page{size:A4;margin:11mm}body{margin:0;padding:0;max-width:none;font-size:7.5px}" +
  "h1{font-size:13px}h2{font-size:9px}.small{font-size:6.5px}th,td{padding:1px 3px}}"

const metricTitles = {
  demographic_parity: "Demographic parity",
  equalized_odds: "Equalized odds",
  calibration: "Calibration"
} as const

const verdicts = {
  demonstrated: "<b class=bad>demonstrated</b>",
  not_demonstrated: "not demonstrated",
  insufficient_evidence: "insufficient evidence"
} as const

const summaryRows = (attribute: AnalysedAttribute, at: number): ReadonlyArray<string> => {
  const { four_fifths: fifths, groups, metrics } = attribute
  const name = nameOf(attribute, at)
  const place = (of: number, rate: RateName): string =>
    `${groupName(groups[of]!, of)} <small>${counted(groups[of]![rate])}</small>`
  const { base, group, ratio, violated } = fifths
  return [
    ...metrics.map((metric) => metricRow(name, metric, place)),
    ratio === null || base === null || group === null
      ? undefinedRow(name, "Four fifths", fifths.undefined_reason)
      : row(
          name,
          "Four fifths (ratio)",
          decimal(ratio),
          bounds(fifths.ci95),
          `${place(group, "selection_rate")} to ${place(base, "selection_rate")}`,
          "",
          "",
          (violated === true ? "<b class=bad>below 4/5</b>, " : "not below 4/5, ") + verdicts[fifths.verdict!]
        )
  ]
}

const metricRow = (
  name: string,
  { ci95, high, incomplete, low, rate, verdict, ...metric }: AnalysedMetric,
  place: (of: number, rate: RateName) => string
): string => {
  const title = metricTitles[metric.name]
  if (rate === null || high === null || low === null) return undefinedRow(name, title, metric.undefined_reason)
  const of = rate as RateName
  const between = `${text(rate.replace("_", " "))}: ${place(high, of)} over ${place(low, of)}`
  return row(
    name,
    title,
    decimal(metric.value),
    bounds(ci95),
    between + (incomplete ? " <small>(a group has none)</small>" : ""),
    decimal(metric.p),
    decimal(metric.p_adjusted),
    verdicts[verdict!]
  )
}

const row = (...cells: ReadonlyArray<string>): string => `<tr><td>${cells.join("</td><td>")}</td></tr>`

const undefinedRow = (name: string, title: string, reason: string | null): string =>
  row(name, title, "none", "", text((reason ?? "").replaceAll("_", " ")), "", "", "")

type RateName = (typeof rates)[number][0]

const rates = [
  ["selection_rate", "Selected", "#356"],
  ["tpr", "TPR", "#275"],
  ["fpr", "FPR", "#a62"],
  ["ppv", "PPV", ""],
  ["npv", "NPV", ""],
  ["calibration", "Label less score", ""]
] as const

const detail = (attribute: AnalysedAttribute, at: number): string => {
  const heads = ["Group", "Rows", ...rates.map(([, title]) => title), "Selected, TPR, FPR: 0 to 1"]
  const rows = attribute.groups.map((group, place) =>
    row(
      groupName(group, place),
      String(group.n),
      ...rates.map(([rate]) => cell(group[rate])),
      chart(rates.flatMap(([rate, title, colour]) => (colour === "" ? [] : [{ rate: group[rate], title, colour }])))
    )
  )
  const { unknown } = attribute
  return `<h2>${nameOf(attribute, at)}</h2>
${table(heads, rows)}${unknown > 0 ? `<p class=small>${unknown} rows have no value in this column.</p>` : ""}`
}

const cell = (rate: GroupRate): string =>
  rate.value === null
    ? "none"
    : `${decimal(rate.value)} <small>${bounds(rate.ci95)}</small> <small>${counted(rate)}</small>`

const counted = ({ n, positive }: GroupRate): string => (positive === null ? `n ${n}` : `${positive}/${n}`)

/** Draws bars with their intervals, on a scale from 0 to 1. */
const chart = (
  bars: ReadonlyArray<{ readonly rate: GroupRate; readonly title: string; readonly colour: string }>
): string => {
  const drawn = bars.flatMap(({ colour, rate: { ci95, value }, title }, at) => {
    if (value === null || ci95 === null) return []
    const y = 8 * at
    const size = `x="0" y="${y}" width="${short(value)}" height="6"`
    return [
      `<rect ${size} fill="${colour}"><title>${title} ${decimal(value)}</title></rect>` +
        `<path d="M${short(ci95[0]!)} ${y + 3}H${short(ci95[1]!)}" stroke="#111"/>`
    ]
  })
  const said = bars.map(({ rate, title }) => `${title} ${decimal(rate.value)}`).join(", ")
  return `<svg role="img" aria-label="${said}" width="104" height="24" viewBox="0 0 104 24">${drawn.join("")}</svg>`
}

/** A share as a place of a chart that is 100 wide. */
const short = (value: number): string => String(Math.round(value * 1_000) / 10)

const decimal = (value: number | null): string => (value === null ? "none" : value.toFixed(3))

const bounds = (interval: ReadonlyArray<number> | null): string =>
  interval === null ? "none" : `[${decimal(interval[0]!)}, ${decimal(interval[1]!)}]`

const nameOf = ({ name }: AnalysedAttribute, at: number): string => (name === null ? `Column ${at + 1}` : text(name))

const groupName = ({ value }: AnalysedGroup, at: number): string =>
  value === null ? `Group ${at + 1}` : text(String(value))

const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Shows a text of others: short, and never as markup. */
const text = (value: string): string => {
  const characters = [...value]
  const cut = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join("")}…` : value
  return cut.replace(/[&<>"']/g, (character) => entities[character]!)
}
