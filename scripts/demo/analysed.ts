/**
 * The demo's chapter on fairness: COMPAS, analysed from the counts that ProPublica published, with a chart. The rows
 * themselves have no licence, so they are not here; their counts give the same figures.
 */
import { readFileSync, writeFileSync } from "node:fs"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Analysed {
  readonly rows: number
  readonly groups: ReadonlyArray<{
    readonly name: string
    readonly rates: ReadonlyArray<readonly [title: string, rate: GroupRate]>
  }>
  readonly metrics: ReadonlyArray<{ readonly name: string; readonly value: number; readonly verdict: string }>
  readonly pageKb: number
}

interface GroupRate {
  readonly value: number
  readonly ci95: readonly [number, number]
  readonly positive: number
  readonly n: number
}

const published = JSON.parse(
  readFileSync(new URL("../../fixtures/statistics/fairness/expected.json", import.meta.url), "utf8")
).compas.propublica
const groups = ["African_American", "Caucasian"] as const

/** One row for each person whom a count stands for. */
const rowsOf = (group: (typeof groups)[number]) =>
  (["tp", "fp", "fn", "tn"] as const).flatMap((cell) =>
    Array.from({ length: published[group][cell] }, () => ({
      race: group.replace("_", "-"),
      high_risk: cell.endsWith("p"),
      charged_again: cell === "tp" || cell === "fn"
    }))
  )

/** Analyses the data set, and leaves its report as an HTML page at `page`. */
export const analysed = async (
  page: string,
  { admin, server }: { readonly admin: string; readonly server: RunningServer }
): Promise<Analysed> => {
  const scopes = ["fairness:read", "fairness:write"]
  const wanted = { name: "fair", org_unit: "support", plan: "starter", scopes }
  const key = (await server.call("POST", "/api/v1/admin/platform-keys", admin, wanted)).json.key
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/v1/fairness/${path}`, key, body)
    if (answer.status >= 300)
      throw new Error(`${path} answered ${answer.status}: ${new TextDecoder().decode(answer.bytes).slice(0, 500)}`)
    return answer
  }
  const rows = groups.flatMap(rowsOf)
  const columns = { label: "charged_again", prediction: "high_risk", protected: ["race"] }
  const { json } = await ask("POST", "analyze", { model_id: "compas", dataset: { rows, ...columns } })
  const { id } = (await ask("POST", "reports", { analysis_id: json.id })).json
  const { bytes } = await ask("GET", `reports/${id}/page`)
  writeFileSync(page, bytes)
  const [attribute] = json.report.attributes
  return {
    rows: rows.length,
    groups: attribute.groups.map(({ fpr, selection_rate: selected, tpr, value }: any) => ({
      name: value,
      rates: [
        ["called high risk", selected],
        ["… of those charged again", tpr],
        ["… of those who were not", fpr]
      ]
    })),
    metrics: attribute.metrics,
    pageKb: bytes.length / 1_000
  }
}

/** Characters of a rate of 1. */
const BAR = 40

/** A rate as a bar, with its interval as a line behind its end. */
const bar = ({ ci95: [low, high], n, positive, value }: GroupRate): string => {
  const drawn = Array.from({ length: BAR }, (_, at) => {
    const middle = (at + 0.5) / BAR
    return middle <= low ? "█" : middle <= high ? "▒" : "·"
  }).join("")
  return `${drawn} ${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] ${positive}/${n}`
}

/** Its lines of the page. */
export const analysedLines = ({ groups, metrics, pageKb, rows }: Analysed): ReadonlyArray<string> => [
  "The scores of COMPAS were analysed for fairness. Its rows have no licence and are not here, so the " +
    `${rows} rows were made from the counts that ProPublica published:`,
  ...groups.flatMap(({ name, rates }) => [
    `  ${name}`,
    ...rates.map(([title, rate]) => `    ${title.padEnd(25)} ${bar(rate)}`)
  ]),
  `Differences between the groups: ${metrics
    .map(
      ({ name, value, verdict }) => `${name.replaceAll("_", " ")} ${value.toFixed(3)}, ${verdict.replaceAll("_", " ")}`
    )
    .join("; ")}.`,
  `The whole report is one HTML page (demo-fairness.html), ${pageKb < 200 ? "under" : "over"} 200 KB and without a ` +
    "script; the replay above computed counts, verdicts and p-values again."
]
