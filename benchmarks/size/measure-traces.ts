/**
 * `node benchmarks/size/measure-traces.ts DIR > benchmarks/size/shape.json`: sizes, shares and counts of a folder of
 * real traces; none of their text.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { type KindShape, QUANTILES, type Quantiles, type SourceShape, type TraceShape } from "./shape.ts"

type TraceLine = { readonly [member: string]: unknown }

const directory = process.argv[2]
if (directory === undefined) {
  console.error("measure-traces: name the folder of *.ndjson.gz")
  process.exit(2)
}

const bytesOf = (value: unknown): number => Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value))
const share = (part: number, whole: number): number => (whole === 0 ? 0 : Number((part / whole).toFixed(4)))
const quantiles = (values: ReadonlyArray<number>): Quantiles => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.length === 0
    ? []
    : Array.from(
        { length: QUANTILES },
        (_, index) => sorted[Math.round((index / (QUANTILES - 1)) * (sorted.length - 1))]!
      )
}
const countOf = (lines: ReadonlyArray<TraceLine>, member: string): ReadonlyMap<unknown, number> => {
  const counts = new Map<unknown, number>()
  for (const line of lines) counts.set(line[member], (counts.get(line[member]) ?? 0) + 1)
  return counts
}

const kindShape = (kind: string, lines: ReadonlyArray<TraceLine>, all: number): KindShape => {
  const withResult = lines.filter(({ result }) => result !== null && result !== undefined)
  return {
    kind,
    share: share(lines.length, all),
    actions: countOf(lines, "action").size,
    argsBytes: quantiles(lines.map(({ args }) => bytesOf(args))),
    resultShare: share(withResult.length, lines.length),
    resultBytes: quantiles(withResult.map(({ result }) => bytesOf(result))),
    errorShare: share(lines.filter(({ status }) => status === "error").length, lines.length)
  }
}

const sourceShape = (source: string, lines: ReadonlyArray<TraceLine>, all: number): SourceShape => ({
  source,
  share: share(lines.length, all),
  agents: countOf(lines, "agent").size,
  stepsPerRun: quantiles([...countOf(lines, "run_id").values()]),
  labelsBytes: quantiles(lines.map(({ labels }) => bytesOf(labels ?? {}))),
  taskIdBytes: quantiles(lines.map(({ task_id: taskId }) => bytesOf(taskId))),
  usageShare: share(lines.filter((line) => line["tokens_in"] !== undefined).length, lines.length),
  latencyShare: share(lines.filter((line) => line["latency_ms"] !== undefined).length, lines.length),
  nonAsciiShare: share(
    lines.filter(({ args, labels, result }) => /[\u0080-\uffff]/.test(JSON.stringify([args, labels, result]))).length,
    lines.length
  ),
  kinds: [...countOf(lines, "kind").keys()].sort().map((kind) =>
    kindShape(
      String(kind),
      lines.filter((line) => line["kind"] === kind),
      lines.length
    )
  )
})

const files = readdirSync(directory)
  .filter((name) => name.endsWith(".ndjson.gz"))
  .sort()
const read = files.map((name) => ({
  source: name.replace(".ndjson.gz", ""),
  lines: gunzipSync(readFileSync(join(directory, name)))
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceLine)
}))
const total = read.reduce((sum, { lines }) => sum + lines.length, 0)
const shape: TraceShape = {
  lines: total,
  runs: read.reduce((sum, { lines }) => sum + countOf(lines, "run_id").size, 0),
  sources: read.map(({ lines, source }) => sourceShape(source, lines, total))
}
console.log(
  JSON.stringify(shape, null, 1)
    .replaceAll(/\n\s+(?=-?\d)/g, " ")
    .replaceAll(/(?<=\d)\n\s+\]/g, " ]")
)
