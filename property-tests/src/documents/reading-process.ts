/**
 * A server that reads documents, as a process of its own: `reading-process.ts FOLDER`. It says where it listens, with
 * which key, and the delay of its event loop at each message.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { platform } from "../../../packages/platform/src/index.ts"

/** The report of the process. Times in milliseconds, since it listens. */
export interface ReadingReport {
  readonly port: number
  readonly key: string
  readonly p99Ms: number
  readonly maxMs: number
}

const [folder] = process.argv.slice(2) as [string]
const governor = await openGovernor({
  storage: sqliteStorage({ file: join(folder, "store.db") }),
  keys: dataFolder({ dir: join(folder, "keys") }),
  capabilities: [platform({ documents: {} })]
})
const { key } = await governor.platformKeys.mint({ name: "k", org_unit: "ops", plan: "enterprise", scopes: ["*"] })
const server = createServer(openHttp(governor).node)
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const delay = monitorEventLoopDelay({ resolution: 1 })
const report = (): ReadingReport => ({
  port: (server.address() as AddressInfo).port,
  key,
  p99Ms: delay.percentile(99) / 1e6 - 1,
  maxMs: delay.max / 1e6 - 1
})
process.on("message", () => void process.send!(report()))
process.on("disconnect", () => process.exit(0))
process.send!(report())
delay.enable()
