/**
 * Content of the demo: real decisions of real agents, owners that do not exist, and packs that are made already. Spec:
 * document 1 section 1; api.md "Who may call".
 */
import { Agents, Models, Packs, Provenance, type Writer } from "@flyball/core"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { traceLines } from "../cli/import-trace/lines.ts"
import { readLine } from "../cli/import-trace/read-line.ts"
import { type Totals, witnessLines } from "../cli/import-trace/witness-lines.ts"
import type { HostRuntime } from "../host/open-host.ts"
import { boundAgent, type DemoCall, haltAgent } from "./govern.ts"

/** The writer of all that the demo holds. */
const writer: Writer = { id: "system:demo" }
/** The org unit of its agents. */
const UNIT = "demo"
/** Of agents without one, which then show as orphans. */
const UNOWNED = 1
/** The agent that gets an envelope, and the one that is halted. */
const BOUND = "tau2.llm-agent.retail"
const HALTED = "tau2.ironforge.airline"

/** The decisions that come with the project; beside the program where it was joined. */
const traces = import.meta.url.endsWith(".ts")
  ? new URL("../../../../fixtures/traces/starter.ndjson", import.meta.url)
  : new URL("./demo/starter.ndjson", import.meta.url)

/** Fills an empty store. Every pack is read to its end once, so that a visitor's reading records nothing. */
export const fillDemo = async (runtime: HostRuntime): Promise<void> => {
  const calls = await witnessAll(runtime)
  await runtime.runPromise(
    Effect.gen(function* () {
      const agents = yield* Agents
      const listed = yield* agents.list({})
      for (const { id, name } of listed.slice(UNOWNED)) {
        yield* agents.transferOwnership(id, { owner_name: "Demo Owner", owner_email: "owner@demo.example" }, writer)
        yield* agents.update(id, { purpose: `A public trace of ${name}, replayed` }, writer)
        yield* agents.activate(id, writer)
      }
      yield* Models.use((models) =>
        models.create({ provider: "openai", name: "gpt-4o", hosting: "vendor_api" }, writer)
      )
      for (const { id } of listed)
        yield* Provenance.use((provenance) =>
          provenance.add(id, { kind: "dataset", name: "starter traces", uri: "fixtures/traces/starter.ndjson" }, writer)
        )
      for (const { id, name } of listed) {
        if (name === BOUND) yield* boundAgent(id, calls, writer)
        if (name === HALTED) yield* haltAgent(id, writer)
      }
      const packs = yield* Packs
      const wanted = [
        { kind: "full", disclose: "all" } as const,
        ...listed.map(({ id }) => ({ kind: "sparse", agent_id: id, disclose: "none" }) as const)
      ]
      for (const request of wanted) {
        const { id } = yield* packs.request(request, writer)
        const chunks = yield* packs.build(id, writer)
        yield* Effect.promise(() => Array.fromAsync(chunks))
      }
    })
  )
}

/** Witnesses the traces; answers the tool calls of the agent that gets an envelope. */
const witnessAll = async (runtime: HostRuntime): Promise<ReadonlyArray<DemoCall>> => {
  const totals: Totals = { decisions: 0, duplicates: 0, agents: new Map() }
  const witness = witnessLines(runtime, UNIT, totals)
  const calls: Array<DemoCall> = []
  for await (const line of traceLines(fileURLToPath(traces))) {
    const full = witness.add(readLine(line))
    if (full !== null) await full
    const { action, agent, args, id, kind } = JSON.parse(Buffer.from(line.bytes).toString())
    if (agent === BOUND && kind === "tool_call") calls.push({ ref: id, tool: action, args })
  }
  await witness.flush()
  return calls
}
