/** Runs of real agents: tau-bench and tau2-bench. Shuffled, they are streams in which nothing changes. */
import { readFileSync } from "node:fs"
import type { Generator32 } from "@flyball/statistics"

/** A decision of a run. */
export interface TauDecision {
  readonly action: string
  readonly status: string
  readonly kind: "message" | "tool_call"
}

/** An agent with its runs. */
export interface TauAgent {
  readonly name: string
  readonly runs: ReadonlyArray<ReadonlyArray<TauDecision>>
}

interface Packed {
  readonly agent: string
  readonly model: string
  readonly actions: ReadonlyArray<string>
  readonly runs: ReadonlyArray<ReadonlyArray<number>>
}

const statuses = ["ok", "error", "unknown"]

/** The agents, most runs first. */
export const tauAgents: ReadonlyArray<TauAgent> = (
  JSON.parse(
    readFileSync(new URL("../../../fixtures/traces/tau-runs.json", import.meta.url), "utf8")
  ) as ReadonlyArray<Packed>
).map(({ actions, agent, model, runs }) => ({
  name: `${agent} ${model}`,
  runs: runs.map((run) =>
    run.map((packed) => ({
      action: actions[Math.floor(packed / 10)]!,
      status: statuses[Math.floor((packed % 10) / 2)]!,
      kind: packed % 2 === 1 ? "tool_call" : "message"
    }))
  )
}))

/** The six that have 40 runs or more: of fewer, windows of 100 decisions say too little. */
export const longAgents = tauAgents.slice(0, 6)

/** The items in a random order. */
export const shuffled = <A>(items: ReadonlyArray<A>, random: Generator32): ReadonlyArray<A> => {
  const order = Uint32Array.from(items, (_, at) => at)
  random.shuffle(order)
  return Array.from(order, (at) => items[at]!)
}
