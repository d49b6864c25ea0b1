/** `flyball import`: witnesses agents' traces through the same service as POST decisions. */
import { accessSync, constants, statSync } from "node:fs"
import { AgentCreate, decode } from "@flyball/contract"
import { Result } from "effect"
import { fileProblem } from "../host/file-problem.ts"
import type { HostRuntime } from "../host/open-host.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { STANDARD_INPUT, traceLines, TraceUnreadable } from "./import-trace/lines.ts"
import { progressBar } from "./import-trace/progress.ts"
import { readLine } from "./import-trace/read-line.ts"
import { LineProblem, type Totals, type Witness, witnessLines } from "./import-trace/witness-lines.ts"
import type { Settings } from "../settings/read.ts"
import { settingsOfProcess } from "./environment.ts"
import { stopSignal } from "./stop-signal.ts"
import { withHost } from "./with-host.ts"

/** Imports each file in turn and prints what was new. */
export const run = command("import", async (args) => {
  const { positionals: files, values } = readArguments(args, { "org-unit": { type: "string" } }, true)
  const orgUnit = values["org-unit"] ?? "imported"
  if (files.length === 0)
    throw new UsageError("name at least one FILE.ndjson or FILE.ndjson.gz, or - for standard input")
  if (files.filter((file) => file === STANDARD_INPUT).length > 1)
    throw new UsageError("- is given twice, and standard input can be read once")
  for (const file of files) checkTraceFile(file)
  checkOrgUnit(orgUnit)
  const stop = stopSignal()
  const { settings } = settingsOfProcess()
  return withHost({ readOnly: false, small: true, settings }, async (runtime) => {
    const totals: Totals = { decisions: 0, duplicates: 0, agents: new Map() }
    try {
      for (const file of files) await importFile(runtime, file, orgUnit, totals, stop.signal)
    } catch (cause) {
      throw new Error(`${sentence(cause)}. ${kept(totals)}`, { cause })
    }
    console.log(
      `${counted(totals.decisions, "decision")} of ${counted(totals.agents.size, "agent")}: ` +
        `${totals.decisions - totals.duplicates} new, ${totals.duplicates} already recorded.`
    )
    return exitStatus.ok
  }).catch((cause: unknown) => Promise.reject(withEndpoint(settings, cause)))
})

/** The error with what a running server takes in place of an import, where it holds the SQLite file. */
const withEndpoint = ({ port }: Pick<Settings, "port">, cause: unknown): unknown =>
  cause instanceof Error && cause.message.includes("another process writes")
    ? new Error(
        `${cause.message}. Nothing was recorded. While it runs it takes decisions over HTTP, with an ingest key: ` +
          `curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"decisions":[…]}' ` +
          `http://127.0.0.1:${port === 0 ? "PORT" : port}/api/v1/agents/AGENT/decisions`,
        { cause }
      )
    : cause

const sentence = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "")

/** Describes what a failed run has recorded. */
const kept = ({ decisions, duplicates }: Totals): string => {
  const news = decisions - duplicates
  const left =
    news === 0
      ? "Nothing new was recorded"
      : news === 1
        ? "1 new decision of this run was recorded"
        : `${news} new decisions of this run were recorded`
  return `${left}; fix this and import again: nothing is recorded twice`
}

const checkTraceFile = (file: string): void => {
  if (file === STANDARD_INPUT) return
  try {
    if (!statSync(file).isFile()) throw new UsageError(`${file} is not a file`)
    accessSync(file, constants.R_OK)
  } catch (cause) {
    throw cause instanceof UsageError ? cause : new UsageError(`${file} cannot be read: ${fileProblem(cause)}`)
  }
}

const checkOrgUnit = (orgUnit: string): void => {
  const checked = decode(AgentCreate)({ name: "any", org_unit: orgUnit }, "body")
  if (Result.isFailure(checked)) throw new UsageError(`--org-unit: ${checked.failure.map(({ msg }) => msg).join("; ")}`)
}

const importFile = async (
  runtime: HostRuntime,
  path: string,
  orgUnit: string,
  totals: Totals,
  stop: AbortSignal
): Promise<void> => {
  const file = path === STANDARD_INPUT ? "standard input" : path
  const bar = progressBar(file, path === STANDARD_INPUT ? null : statSync(path).size)
  const witness = witnessLines(runtime, orgUnit, totals)
  let lines = 0
  try {
    for await (const line of traceLines(path, stop)) {
      stop.throwIfAborted()
      const full = witness.add(readLine(line))
      if (full !== null) await full
      lines++
      bar.show(line.bytesRead, totals.decisions)
    }
    await witness.flush()
  } catch (cause) {
    throw await afterRest(file, witness, cause)
  } finally {
    bar.end()
  }
  if (lines === 0) console.error(`flyball: ${file} is empty.`)
}

/**
 * Records what stands before the line that failed, so that the sentence about it is simple; answers the error to
 * report.
 */
const afterRest = async (file: string, witness: Witness, cause: unknown): Promise<unknown> => {
  const hasLine = cause instanceof LineProblem || cause instanceof TraceUnreadable
  const flushed = await witness.flush().then(
    () => null,
    (other: unknown) => other
  )
  // Of two bad lines the earlier one is reported.
  const first = hasLine && flushed instanceof LineProblem && flushed.line < cause.line ? flushed : cause
  if (first instanceof LineProblem || first instanceof TraceUnreadable)
    return new Error(`${file}, line ${first.line}: ${first.message}`, { cause: first })
  return (first as NodeJS.ErrnoException).syscall === undefined
    ? first
    : new Error(`${file} cannot be read: ${fileProblem(first)}`, { cause: first })
}
