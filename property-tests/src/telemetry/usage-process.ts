/**
 * A server with the background jobs, as a process of its own, over a chain that no job has folded yet:
 * `usage-process.ts FILE KEYS`. It reports to its parent when the usage is folded, and then at each message.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { mountOn, openGovernor, Telemetry } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect } from "effect"
import { quantile } from "../../../benchmarks/harness.ts"

/** The report of the process. Times in milliseconds, memory in MiB. */
export interface UsageProcessReport {
  readonly port: number
  /** From the opened governor until no complete segment is missing. */
  readonly foldMs: number
  /** Delay of the event loop since the last report. */
  readonly p99Ms: number
  readonly maxMs: number
  /**
   * Processor time that the thread used between two ticks of a timer of 1 ms since then: what the delay would be with a
   * processor to itself.
   */
  readonly ownP99Ms: number
  readonly ownMaxMs: number
  /** Resident memory when the governor was opened. */
  readonly openedRssMb: number
  readonly rssMb: number
  readonly peakRssMb: number
}

const POLL_MS = 100

const [file, dir] = process.argv.slice(2) as [string, string]
const governor = await openGovernor({ storage: sqliteStorage({ file }), keys: dataFolder({ dir }) })
const api = openHttp(governor, {
  authentication: { authenticate: () => ({ subject: "ann", grants: [{ role: "admin", org_unit: "*" }] }) }
})
const server = createServer(api.node)
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

/** Processor time of this thread so far. Asking for the process's first brings the thread's up to date. */
const usedMs = (): number => {
  process.cpuUsage()
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}
let own: Array<number> = []
let used = usedMs()
setTimeout(function tick() {
  const taken = usedMs() - used
  // A stop counts for every tick that should have been in it.
  for (let left = taken; left >= 0; left -= 1) own.push(left)
  used = usedMs()
  setTimeout(tick, 1)
}, 1)

const openedRssMb = process.memoryUsage.rss() / 1_048_576
const openedAt = performance.now()
const missing = Effect.runPromiseWith(mountOn(governor).context)
while ((await missing(Telemetry.use((telemetry) => telemetry.rollUp(0)))) > 0)
  await new Promise((resolve) => setTimeout(resolve, POLL_MS))
const foldMs = performance.now() - openedAt

const report = (): UsageProcessReport => {
  const taken: UsageProcessReport = {
    port: (server.address() as AddressInfo).port,
    foldMs,
    p99Ms: delay.percentile(99) / 1e6 - 1,
    maxMs: delay.max / 1e6 - 1,
    ownP99Ms: quantile(own, 0.99),
    ownMaxMs: own.reduce((most, one) => Math.max(most, one), 0),
    openedRssMb,
    rssMb: process.memoryUsage.rss() / 1_048_576,
    peakRssMb: process.resourceUsage().maxRSS / 1_024
  }
  delay.reset()
  own = []
  return taken
}
process.on("message", () => process.send!(report()))
process.on("disconnect", () => process.exit(0))
process.send!(report())
