/**
 * `npm run slow -- telemetry [--records N] [--agents N] [--days N]`: usage telemetry over a long chain.
 *
 * A server opens a chain that nothing has folded yet. It must fold it without holding up its event loop, answer the
 * whole range and one day in time and in bounded memory, and say what was counted while the chain was made.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type CountedDay, differencesFrom, makeLargeChain, type UsageAnswer } from "../src/telemetry/large-chain.ts"
import type { UsageProcessReport } from "../src/telemetry/usage-process.ts"
import { numbersOf } from "./options.ts"

const DAY_MS = 86_400_000
/** Answers of which the slowest counts. */
const ANSWERS = 10
/** The longest an answer may take. Unit: milliseconds. */
const MOST_MS = 1_000
/**
 * Processor time of the server's thread between two turns of its event loop, at the 99th percentile: the delay where it
 * has a processor to itself. Unit: milliseconds.
 */
const MOST_P99_MS = 5
/** Resident memory that is added to what the server has when it is open, at most. Unit: MiB. */
const MOST_GROWTH_MB = 256

/** Runs the proof. True when every promise holds. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { agents = 1_000, days = 30, records = 1_000_000 } = numbersOf(args, ["agents", "days", "records"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-telemetry-"))
  try {
    const [file, keys] = [join(folder, "usage.db"), join(folder, "keys")]
    console.log(`making a chain of about ${records} records of ${agents} agents over ${days} days`)
    const counted = await makeLargeChain({ file, keys, records, agents, days }, console.log)
    console.log(`${Math.round(statSync(file).size / 1_048_576)} MiB`)
    return await onServer(file, keys, counted)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const onServer = async (file: string, keys: string, days: ReadonlyArray<CountedDay>): Promise<boolean> => {
  const child = fork(fileURLToPath(new URL("../src/telemetry/usage-process.ts", import.meta.url)), [file, keys])
  const ended = once(child, "exit")
  const report = async (): Promise<UsageProcessReport> => {
    const [found] = await Promise.race([
      once(child, "message"),
      ended.then(() => Promise.reject(new Error("the server ended")))
    ])
    return found as UsageProcessReport
  }
  try {
    const folded = await report()
    const isSmooth = holdsIn(`folded in ${(folded.foldMs / 1_000).toFixed(1)} s`, folded)
    const middle = days.slice(days.length >> 1, (days.length >> 1) + 1)
    let holds = isSmooth
    for (const [name, window] of [
      ["the whole range", days],
      ["one day", middle]
    ] as const)
      holds = (await answersOf(name, folded.port, window)) && holds
    child.send("report")
    return holdsIn("while it answered", await report()) && holds
  } finally {
    if (child.connected) child.disconnect()
    await ended
  }
}

const holdsIn = (what: string, report: UsageProcessReport): boolean => {
  const { maxMs, openedRssMb, ownMaxMs, ownP99Ms, p99Ms, peakRssMb } = report
  const holds = ownP99Ms < MOST_P99_MS && peakRssMb - openedRssMb < MOST_GROWTH_MB
  say(
    holds,
    `${what}: processor time between two turns p99 ${ownP99Ms.toFixed(2)} ms, most ${ownMaxMs.toFixed(1)}; delay of ` +
      `the event loop p99 ${p99Ms.toFixed(2)} ms, longest ${maxMs.toFixed(1)}; resident ${Math.round(peakRssMb)} MiB ` +
      `at most, ${Math.round(openedRssMb)} when it was opened`
  )
  return holds
}

const answersOf = async (name: string, port: number, days: ReadonlyArray<CountedDay>): Promise<boolean> => {
  const [from, to] = [days[0]!.fromMs, days.at(-1)!.fromMs + DAY_MS].map((ms) => new Date(ms).toISOString())
  let slowestMs = 0
  let text = ""
  for (let count = 0; count < ANSWERS; count++) {
    const startedAt = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/bound/telemetry/usage?from=${from}&to=${to}`)
    text = await response.text()
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    if (response.status !== 200) throw new Error(`the server answered ${response.status}: ${text.slice(0, 500)}`)
  }
  const differences = differencesFrom(days, JSON.parse(text) as UsageAnswer)
  for (const one of differences.slice(0, 5)) console.log(`  ${one}`)
  const holds = differences.length === 0 && slowestMs < MOST_MS
  say(
    holds,
    `${name}: ${Math.round(slowestMs)} ms for the slowest of ${ANSWERS} answers, ${Math.round(text.length / 1024)} ` +
      `KiB; ${differences.length} figures differ from what was counted`
  )
  return holds
}

const say = (holds: boolean, text: string): void => console.log(`${holds ? "ok  " : "FAIL"} ${text}`)
