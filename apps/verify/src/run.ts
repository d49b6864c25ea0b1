/** Verifies the pack that the arguments name, prints the report, and answers the exit status. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { UnusableTrust, withoutMark } from "@flyball/evidence"
import type { VerifyFileOptions } from "@flyball/evidence/node"
import { comparePackFiles, PackFileUnusable, verifyPackFile } from "@flyball/evidence/node"
import type { GivenAnswer } from "./answer/answer-pack.ts"
import type { Command } from "./arguments.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { checkPack, type Verified } from "./check-pack.ts"
import type { Extras } from "./extras.ts"
import { humanReport } from "./reports/human-report.ts"
import { jsonReport } from "./reports/json-report.ts"
import { nodePackFile } from "./node-pack-file.ts"
import { checkIsNew, writeNew } from "./reports/report-file.ts"
import { printable, printableLines } from "./reports/printable.ts"
import { PROGRESS_FROM_BYTES, progressLine } from "./progress.ts"

/** Effects of the command on the outside. */
export interface Environment {
  readonly out: (text: string) => Promise<void>
  readonly err: (text: string) => Promise<void>
  readonly nowMs: () => number
  /** A person watches standard error. */
  readonly isTerminal: boolean
}

/** Status 4: the verifier failed or was called wrongly, and nothing is said about the pack. */
const NO_VERDICT = 4

/** Runs the command. Fails: rejects only for a fault of the program itself. */
export const run = async (args: ReadonlyArray<string>, environment: Environment): Promise<number> => {
  try {
    const command = readArguments(args)
    if (command.html !== null) await checkIsNew(command.html)
    // Before the table is opened: a refused answer would leave it there, empty.
    const answer = await givenAnswer(command.answer)
    const table = command.csv === null ? null : (await import("./reports/record-table.ts")).tableFile(command.csv)
    const { report, extras: whole } = await checkPack({
      ...(table === null ? {} : { onRecord: table.add }),
      pack: nodePackFile(command.pack),
      verify: () => verify(command, environment),
      replay: command.replay,
      previous: command.previous.map(nodePackFile),
      bodies: command.bodies,
      certificate: command.certificate,
      usage: command.usage,
      answer,
      // A page always has the summary.
      summary: command.summary || table !== null ? "required" : command.html === null ? "none" : "wanted"
    }).catch((cause: unknown) => {
      table?.discard()
      throw cause
    })
    if (whole.summary === null) table?.discard()
    else table?.end()
    if (command.html !== null) {
      const { htmlReport } = await import("./reports/html-report.ts")
      await writeNew(command.html, htmlReport(report, whole, environment.nowMs()))
    }
    // The other reports have it where it was requested.
    const extras: Extras = command.summary ? whole : { ...whole, summary: null }
    if (command.json) await environment.out(printableLines(jsonReport(report, extras)))
    else if (!command.quiet) await environment.out(printableLines(humanReport(report, extras)))
    return report.exit
  } catch (cause) {
    const sentence = explain(cause)
    if (sentence === null) throw cause
    await environment.err(`flyball-verify: ${printable(sentence)}\n`)
    return NO_VERDICT
  }
}

/** The answer in a file; null where none was given. */
const givenAnswer = async (path: string | null): Promise<GivenAnswer | null> => {
  const bytes = await readGiven(path, "answer")
  if (bytes === null) return null
  const { readAnswer } = await import("./answer/answer-pack.ts")
  const answer = readAnswer(bytes)
  if (answer !== null) return answer
  throw new UsageError(`${path!} holds no answer of GET /behavior/agents/{agent_id}/change.`)
}

const verify = async (command: Command, environment: Environment): Promise<Verified> => {
  const [policy, trustedCheckpoint] = await Promise.all([
    readGiven(command.policy, "policy"),
    readGiven(command.trustedCheckpoint, "trusted checkpoint")
  ])
  const watched = environment.isTerminal && !command.quiet && (await sizeOf(command.pack)) >= PROGRESS_FROM_BYTES
  const progress = watched ? progressLine(environment.err, environment.nowMs) : null
  const options: VerifyFileOptions = {
    vkeys: command.vkeys,
    requireCompleteness: command.require,
    ...(policy === null ? {} : { policy }),
    ...(trustedCheckpoint === null ? {} : { trustedCheckpoint }),
    ...(command.maxAgeMs === null ? {} : { maxAgeMs: command.maxAgeMs, nowMs: environment.nowMs() }),
    ...(progress === null ? {} : { onProgress: progress.report })
  }
  try {
    if (command.compare === null) return { report: await verifyPackFile(command.pack, options), splitView: null }
    const { comparison, other, report } = await comparePackFiles(command.pack, command.compare, options)
    return {
      report,
      splitView:
        comparison.outcome === "split view" ? { notes: [report.checkpoint!.note, other.checkpoint!.note] } : null
    }
  } finally {
    await progress?.end()
  }
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size

const readGiven = async (path: string | null, what: string): Promise<Uint8Array | null> => {
  if (path === null) return null
  try {
    // Policies and checkpoints above a megabyte are refused by their readers; a device may have no end at all.
    return withoutMark(await buffer(createReadStream(path, { end: MAX_GIVEN_BYTES })))
  } catch (cause) {
    throw new UsageError(`The ${what} ${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? "unknown"}).`)
  }
}

/** One byte more is read, so that the reader of the file sees that there is more. */
const MAX_GIVEN_BYTES = 1024 * 1024

/** A sentence for what is not our fault; null for what is. */
const explain = (cause: unknown): string | null => {
  if (cause instanceof UsageError || cause instanceof PackFileUnusable) return cause.message
  if (cause instanceof UnusableTrust) return `${cause.message[0]!.toUpperCase()}${cause.message.slice(1)}`
  const { code, path, syscall } = cause as NodeJS.ErrnoException
  if (code === "EPIPE" || code === undefined) return null
  // A disk that fails in the middle of a file: the open file has no name any more.
  if (path === undefined && syscall === "read")
    return `A file could not be read to its end (${code}). Copy it to another disk, and verify the copy.`
  return path === undefined ? null : `The file ${path} cannot be read (${code}). Check its name and your rights to it.`
}
