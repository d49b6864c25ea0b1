/** `flyball import`: witnesses agents' traces through the same door as POST decisions. */
import { createReadStream, statSync } from "node:fs"
import { createInterface } from "node:readline"
import { createGunzip } from "node:zlib"
import { type DecisionIn, decodeWitness } from "@flyball/contract"
import { Agents, Capture, type Writer } from "@flyball/core"
import { readJson, utf8 } from "@flyball/evidence"
import { Result } from "effect"
import type { HostRuntime } from "../host/open-host.ts"
import { command, readArguments, UsageError } from "./arguments.ts"
import { progressBar } from "./import-trace/progress.ts"
import { readTraceLine } from "./import-trace/trace.ts"
import { withHost } from "./with-host.ts"

/** Decisions in one commit: enough to share an fsync, few enough to stay near 10 ms. */
const BATCH = 500
const writer: Writer = { id: "system:import" }

interface Totals {
  decisions: number
  duplicates: number
  readonly agents: Map<string, string>
}

/** An open batch of one agent. Batches are per agent, since a commit is about one agent. */
interface Pending {
  readonly agentId: string
  readonly decisions: Array<DecisionIn>
}

/** Lines of a file, unpacked when its name says so, with their numbers and how many packed bytes were read. */
const linesOf = async function*(file: string): AsyncGenerator<{ readonly text: string; readonly number: number; readonly bytesRead: number }> {
  const source = createReadStream(file)
  const unpacked = file.endsWith(".gz") ? source.pipe(createGunzip()) : source
  source.on("error", (cause) => unpacked.destroy(cause))
  let number = 0
  for await (const text of createInterface({ input: unpacked, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    if (text !== "") yield { text, number, bytesRead: source.bytesRead }
  }
}

const importFile = async (runtime: HostRuntime, file: string, orgUnit: string, totals: Totals): Promise<void> => {
  const bar = progressBar(file, statSync(file).size)
  const pending = new Map<string, Pending>()
  const flush = async (batch: Pending): Promise<void> => {
    if (batch.decisions.length === 0) return
    const { receipts } = await runtime.runPromise(Capture.use((capture) => capture.witness(batch.agentId, batch.decisions, writer)))
    totals.decisions += receipts.length
    totals.duplicates += receipts.filter((receipt) => receipt.duplicate).length
    batch.decisions.length = 0
  }
  for await (const { bytesRead, number, text } of linesOf(file)) {
    const fail = (what: string): never => {
      throw new Error(`${file}, line ${number}: ${what}. What came before it is recorded; import the corrected file again, nothing is doubled`)
    }
    const json = readJson(utf8(text), { keepRaw: (path) => path.length === 1 && (path[0] === "args" || path[0] === "result") })
    if (!json.ok) return fail(`not JSON (${json.reason} at byte ${json.offset})`)
    const read = readTraceLine(json.value)
    if (!read.ok) return fail(`expected ${read.expected}`)
    const decoded = decodeWitness(read.trace.decision)
    if (Result.isFailure(decoded)) return fail(decoded.failure.map((item) => `${item.loc.slice(1).join(".")}: ${item.msg}`).join("; "))
    let agentId = totals.agents.get(read.trace.agent)
    if (agentId === undefined) {
      const { agent } = await runtime.runPromise(Agents.use((agents) => agents.register({ name: read.trace.agent, org_unit: orgUnit }, writer)))
      agentId = agent.id
      totals.agents.set(read.trace.agent, agentId)
    }
    const batch = pending.get(agentId) ?? { agentId, decisions: [] }
    pending.set(agentId, batch)
    batch.decisions.push(...decoded.success)
    if (batch.decisions.length >= BATCH) await flush(batch)
    bar.show(bytesRead, totals.decisions)
  }
  for (const batch of pending.values()) await flush(batch)
  bar.end()
}

/** Imports each file in turn and prints what was new. */
export const run = command("import", async (args) => {
  const { positionals: files, values } = readArguments(args, { "org-unit": { type: "string" } }, true)
  if (files.length === 0) throw new UsageError("name at least one FILE.ndjson or FILE.ndjson.gz")
  for (const file of files) if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new UsageError(`${file} is not a file`)
  return withHost({ readOnly: false }, async (runtime) => {
    const totals: Totals = { decisions: 0, duplicates: 0, agents: new Map() }
    for (const file of files) await importFile(runtime, file, values["org-unit"] ?? "imported", totals)
    console.log(`${totals.decisions} decisions of ${totals.agents.size} agents: ${totals.decisions - totals.duplicates} new, ${totals.duplicates} already recorded.`)
    return 0
  })
})
