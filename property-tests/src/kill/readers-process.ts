/**
 * A server on a SQLite file as a process of its own, for many readers: `readers-process.ts FILE KEYS`. It says where it
 * listens and with which key, and its memory at each message.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { IngestKeys, mountOn, openGovernor, systemHost } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect } from "effect"

/** The report of the process. Memory in MiB, after a collection. */
export interface ReadersReport {
  readonly port: number
  readonly key: string
  readonly agent: string
  readonly rssMb: number
  readonly heapMb: number
  readonly connections: number
}

const [file, dir] = process.argv.slice(2) as [string, string]
const governor = await openGovernor({ storage: sqliteStorage({ file }), keys: dataFolder({ dir }) })
const api = openHttp(governor, {
  authentication: { authenticate: () => ({ subject: "ann", grants: [{ role: "admin", org_unit: "*" }] }) }
})
const server = createServer(api.node)
await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, resolve))
const { agent } = await governor.agents.register({ name: "watched", org_unit: "bench" })
const { id: keyId, key } = await Effect.runPromiseWith(mountOn(governor).context)(
  IngestKeys.use((keys) => keys.mint({ name: "a key", org_unit: "bench" }, systemHost))
)
setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const report = async (): Promise<ReadersReport> => {
  collect()
  await new Promise((resolve) => setTimeout(resolve, 100))
  collect()
  return {
    port: (server.address() as AddressInfo).port,
    key,
    agent: agent.id,
    rssMb: process.memoryUsage.rss() / 1_048_576,
    heapMb: process.memoryUsage().heapUsed / 1_048_576,
    connections: await new Promise((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
    )
  }
}

/** Messages: `report`; `revoke` the key; `halt` and `release` the agent, after which it reports too. */
let activation = ""
const acts: { readonly [name: string]: () => Promise<unknown> } = {
  report: async () => undefined,
  revoke: () =>
    Effect.runPromiseWith(mountOn(governor).context)(IngestKeys.use((keys) => keys.revoke(keyId, systemHost))),
  halt: async () => {
    const { activation_event: id } = await governor.kill.activate({
      target_type: "agent",
      target_id: agent.id,
      reason: "a test"
    })
    activation = id ?? ""
  },
  release: () => governor.kill.release({ activation_event: activation, reason: "a test" })
}
process.on("message", (name) => void acts[String(name)]!().then(async () => process.send!(await report())))
process.on("disconnect", () => process.exit(0))
process.send!(await report())
