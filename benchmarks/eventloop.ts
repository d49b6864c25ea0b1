/**
 * The event loop of a host that captures at a fixed rate, while every commit blocks for 10 ms where SQLite syncs.
 * Design section 6; write path, rule 22.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { HostReport } from "./eventloop-host.ts"
import { type Benchmark, figure, type Line } from "./harness.ts"

/** Decisions a second, each a call of its own. */
const RATES = [1_000, 5_000]
const MOST_MS = 5

const runHost = async (rate: number, where: "worker" | "host"): Promise<HostReport> => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
  try {
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL("./eventloop-host.ts", import.meta.url)),
        join(folder, "host.db"),
        join(folder, "keys"),
        String(rate),
        where
      ],
      { stdio: ["ignore", "pipe", "inherit"] }
    )
    let out = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", resolve)
    })
    if (status !== 0) throw new Error(`the host ended with ${status}`)
    const report = JSON.parse(out) as HostReport
    if (report.waits === 0)
      throw new Error("no commit waited, so the benchmark measured nothing; has the writer another way to commit?")
    return report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "eventloop",
  about:
    `delay of a host's event loop at ${RATES.join(" and ")} decisions a second, 10 ms of blocking wait in ` +
    "each commit, against the same host idle",
  run: async (say) => {
    const lines: Array<Line> = []
    for (const rate of RATES) {
      const { ackP50Ms, ackP99Ms, acknowledged, busy, idle, longest, waits } = await runHost(rate, "worker")
      say(
        `${rate} a second: ${acknowledged} acknowledged in ${waits} commits, after ${figure(ackP50Ms)} ms (p99 ` +
          `${figure(ackP99Ms)}); longest delay ${figure(busy.maxMs)} ms, idle ${figure(idle.maxMs)}; own ` +
          `processor time between two ticks p99 ${figure(busy.ownP99Ms)} ms, most ${figure(busy.ownMaxMs)}`
      )
      say(
        "the longest of them, milliseconds, and how long the garbage collector was at work in each: " +
          `${longest.map(({ collectorMs, ownMs }) => `${figure(ownMs)} (${figure(collectorMs)})`).join(", ")}`
      )
      const line = (name: string, value: number, limit: number): Line => ({
        name: `eventloop.${rate}.${name}`,
        value: figure(value),
        unit: "ms",
        limit: figure(limit),
        ratio: figure(limit / value),
        goal: `< ${MOST_MS} ms (limit: the idle host)`,
        met: value < MOST_MS
      })
      lines.push(
        line("monitor_p99", busy.monitorP99Ms, idle.monitorP99Ms),
        line("probe_p99", busy.probeP99Ms, idle.probeP99Ms)
      )
    }
    const rate = RATES[0]!
    const { busy } = await runHost(rate, "host")
    say(
      `for comparison, the same storage code on the host's own thread at ${rate} a second: p99 ` +
        `${figure(busy.monitorP99Ms)} ms by the monitor, ${figure(busy.probeP99Ms)} ms by the probe, longest ` +
        `${figure(busy.maxMs)} ms`
    )
    return lines
  }
}
