/**
 * The results of a run as a table and a plot, put between the markers of benchmarks/README.md, and held against the
 * goals.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { figure } from "../harness.ts"
import { type Growth, REFERENCE } from "./beside.ts"
import { plot, type Series } from "./plot.ts"
import type { Stage } from "./stage.ts"
import type { Ids } from "./trace-lines.ts"

/** A goal, and whether this run met it. */
export interface Goal {
  readonly name: string
  readonly value: string
  readonly goal: string
  readonly met: boolean
}

/** Highest resident memory of import, export and verify at any size. */
const MAX_RSS_MB = 150
/**
 * A proof is made in less, at any size: the median. The 99th percentile is reported beside it, and is mostly what this
 * machine takes to wake a thread.
 */
const MAX_PROOF_MS = 5
/**
 * The cost of a record at the largest size, in terms of what it costs beside it in a store of a million; of a run that
 * goes no further, in terms of the lowest at any
 * size from here on, below which the start of the process counts. In processor time: wall time tells as much of what
 * else the machine did meanwhile. The table has both.
 */
const MAX_GROWTH = 1.25
const GROWTH_FROM = 100_000

const columns = ["import", "export", "verify", "export.zst", "verify.zst", "check"] as const

/** Writes the report, if it is wanted, and answers it. */
export const writeReport = (
  stages: ReadonlyArray<Stage>,
  beside: Growth | null,
  ids: Ids,
  write: boolean
): { readonly markdown: string; readonly goals: ReadonlyArray<Goal> } => {
  const name = ids === "ordered" ? "size" : "size-random"
  const markdown = [
    `Ids of decisions: ${ids}. ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ` +
      `${process.versions.node}. Each cell: microseconds of wall time a record (of CPU), highest resident memory ` +
      "in MB.",
    "",
    `| records | ${columns.join(" | ")} | database, bytes a record | pack, bytes a record | proof: made, p99 / ` +
      "checked |",
    `|---|${columns.map(() => "---|").join("")}---|---|---|`,
    ...stages.map(
      (stage) =>
        `| ${grouped(stage.size)} | ${columns.map((column) => cell(stage, column)).join(" | ")} ` +
        `| ${Math.round(stage.databaseBytes / stage.size)} | ${Math.round(stage.packBytes / stage.size)}` +
        (stage.zstBytes === null ? "" : `, .zst ${Math.round(stage.zstBytes / stage.size)}`) +
        ` | ${stage.proof.makeMedianMs}, ${stage.proof.makeP99Ms} / ${stage.proof.checkMedianMs} ms |`
    ),
    ...(beside === null
      ? []
      : [
          "",
          `Beside a store of ${grouped(REFERENCE)} in the same minutes, processor time a record at ` +
            `${grouped(stages.at(-1)!.size)}: import ${figure(beside.import)}, export ${figure(beside.export)}, ` +
            `verify ${figure(beside.verify)} times.`
        ]),
    "",
    `![Microseconds a record and resident memory by size](${name}.svg)`
  ].join("\n")
  if (write) {
    writeFileSync(
      new URL(`../${name}.svg`, import.meta.url),
      plot([
        {
          title: "microseconds a record (processor time)",
          limit: null,
          series: columns.map((column) => seriesOf(stages, column, ({ cpuMs, records }) => (cpuMs / records) * 1_000))
        },
        {
          title: "highest resident memory, MB",
          limit: MAX_RSS_MB,
          series: columns.map((column) => seriesOf(stages, column, ({ peakRssMb }) => peakRssMb))
        }
      ])
    )
    const readme = new URL("../README.md", import.meta.url)
    writeFileSync(readme, between(readFileSync(readme, "utf8"), name, markdown))
  }
  return { markdown, goals: goalsOf(stages, beside) }
}

const goalsOf = (stages: ReadonlyArray<Stage>, beside: Growth | null): ReadonlyArray<Goal> => {
  const last = stages.at(-1)!
  const size = grouped(last.size)
  return [
    ...(["import", "export", "verify"] as const).flatMap((column) => {
      const rss = Math.max(...stages.map(({ steps }) => steps[column]!.peakRssMb))
      const costs = stages
        .filter((stage) => stage.size >= GROWTH_FROM)
        .map(({ steps }) => steps[column]!.cpuMs / steps[column]!.records)
      const growth = beside?.[column] ?? (costs.length === 0 ? 1 : costs.at(-1)! / Math.min(...costs))
      const lowest =
        beside === null
          ? `of the lowest processor time a record from ${grouped(GROWTH_FROM)} on`
          : `of the processor time a record beside it at ${grouped(REFERENCE)}`
      return [
        {
          name: `size.${column}.rss`,
          value: `${Math.round(rss)} MB up to ${size} records`,
          goal: `< ${MAX_RSS_MB} MB`,
          met: rss < MAX_RSS_MB
        },
        {
          name: `size.${column}.growth`,
          value: `${figure(growth)} at ${size} records`,
          goal: `<= ${MAX_GROWTH} ${lowest}`,
          met: growth <= MAX_GROWTH
        }
      ]
    }),
    {
      name: "size.proof.make",
      value: `${last.proof.makeMedianMs} ms at ${size} records, the middle one (p99 ${last.proof.makeP99Ms})`,
      goal: `< ${MAX_PROOF_MS} ms`,
      met: last.proof.makeMedianMs < MAX_PROOF_MS
    }
  ]
}

const cell = ({ steps }: Stage, column: string): string => {
  const step = steps[column]
  if (step === undefined) return "-"
  return (
    `${figure((step.wallMs / step.records) * 1_000)} (${figure((step.cpuMs / step.records) * 1_000)}), ` +
    `${Math.round(step.peakRssMb)}`
  )
}

const seriesOf = (
  stages: ReadonlyArray<Stage>,
  name: string,
  value: (step: Stage["steps"][string]) => number
): Series => ({
  name,
  points: stages.flatMap(({ size, steps }) => {
    const step = steps[name]
    return step === undefined ? [] : [[size, value(step)] as const]
  })
})

const grouped = (count: number): string => count.toLocaleString("en-GB")

/** Replaces what stands between the markers of this name. */
const between = (readme: string, name: string, text: string): string => {
  const [begin, end] = [`<!-- ${name}: written by npm run size -->`, `<!-- /${name} -->`]
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)]
  if (from < 0 || to < from)
    throw new Error(`benchmarks/README.md should have the lines ${begin} and ${end}, and has not.`)
  return `${readme.slice(0, from + begin.length)}\n${text}\n${readme.slice(to)}`
}
