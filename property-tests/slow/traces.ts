/**
 * `npm run slow -- traces DIR`: imports a folder of traces, exports, verifies, and compares decisions, runs, tool calls
 * and errors
 * with counts taken from the files by other code (text search over the lines, no shared parser).
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"

/** Counts to compare. */
export interface TraceCounts {
  decisions: number
  runs: number
  toolCalls: number
  errors: number
}

/** Counts one file's lines by searching their text. */
const countFile = (path: string, counts: TraceCounts, runs: Set<string>): void => {
  const bytes = readFileSync(path)
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")
  for (const line of text.split("\n")) {
    if (line === "") continue
    counts.decisions++
    // The members stand before args, so the first occurrence is the line's own.
    runs.add(/"run_id":"([^"]*)"/.exec(line)![1]!)
    if (/"kind":"([a-z_]*)"/.exec(line)![1] === "tool_call") counts.toolCalls++
    // status stands after args and result: the last occurrence before the usage or labels members is the line's own.
    const statuses = [
      ...line.matchAll(
        /,"status":"(ok|error|unknown)"(?=,"(?:tokens_in|tokens_out|cost_usd|latency_ms|parallel_of|final|labels)"|\})/g
      )
    ]
    if (statuses.at(-1)?.[1] === "error") counts.errors++
  }
}

/** Counts the records of a pack. */
const countPack = (path: string): TraceCounts => {
  const counts: TraceCounts = { decisions: 0, runs: 0, toolCalls: 0, errors: 0 }
  const runs = new Set<string>()
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.startsWith("R ")) continue
    const record = JSON.parse(line.slice(2)) as {
      readonly kind: string
      readonly body: { readonly run_id: string; readonly kind: string; readonly status: string }
    }
    if (record.kind !== "decision.witnessed") continue
    counts.decisions++
    runs.add(record.body.run_id)
    if (record.body.kind === "tool_call") counts.toolCalls++
    if (record.body.status === "error") counts.errors++
  }
  return { ...counts, runs: runs.size }
}

const root = fileURLToPath(new URL("../..", import.meta.url))

const command = (folder: string, file: string, ...args: ReadonlyArray<string>): string => {
  const startedAt = performance.now()
  const result = spawnSync(process.execPath, [join(root, file), ...args], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      FLYBALL_DATA_DIR: folder,
      FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`,
      FLYBALL_ORIGIN: "flyball.example/traces"
    }
  })
  if (result.status !== 0) throw new Error(`${args[0]} ended with ${result.status}: ${result.stderr.slice(-2_000)}`)
  console.log(
    `${file.includes("verify") ? "flyball-verify" : `flyball ${args[0]}`}: ` +
      `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  )
  return result.stdout
}

/** Runs the proof over `DIR`. True when every count agrees and the pack verifies. */
export const run = async ([directory]: ReadonlyArray<string>): Promise<boolean> => {
  if (directory === undefined || !statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    console.error("slow traces: name the folder of traces, for example: npm run slow -- traces ./traces")
    return false
  }
  const files = readdirSync(directory)
    .filter((name) => name.endsWith(".ndjson.gz"))
    .sort()
    .map((name) => join(directory, name))
  const expected: TraceCounts = { decisions: 0, runs: 0, toolCalls: 0, errors: 0 }
  const runs = new Set<string>()
  for (const file of files) countFile(file, expected, runs)
  expected.runs = runs.size
  const folder = mkdtempSync(join(tmpdir(), "flyball-traces-"))
  try {
    command(folder, "apps/server/src/main.ts", "import", ...files)
    const again = command(folder, "apps/server/src/main.ts", "import", ...files)
    const pack = join(folder, "traces.evp")
    command(folder, "apps/server/src/main.ts", "export", "--kind", "full", "--disclose", "all", "--out", pack)
    const vkey = command(folder, "apps/server/src/main.ts", "vkey").trim()
    const report = JSON.parse(command(folder, "apps/verify/src/main.ts", pack, "--vkey", vkey, "--json")) as {
      readonly verdicts: unknown
      readonly counts: unknown
    }
    command(folder, "apps/server/src/main.ts", "check")
    const found = countPack(pack)
    console.log(
      `${files.length} files; pack of ${(statSync(pack).size / 1e6).toFixed(1)} MB; verdicts ` +
        `${JSON.stringify(report.verdicts)}; counts ${JSON.stringify(report.counts)}`
    )
    console.log(`second import: ${again.trim().split("\n").at(-1)}`)
    const names = ["decisions", "runs", "toolCalls", "errors"] as const
    for (const name of names)
      console.log(
        `${found[name] === expected[name] ? "ok  " : "FAIL"} ${name}: ${expected[name]} in the files, ` +
          `${found[name]} in the pack`
      )
    return names.every((name) => found[name] === expected[name])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
