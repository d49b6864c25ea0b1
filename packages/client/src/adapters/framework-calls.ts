/** Guards the tool calls of a framework that runs tools in this process. */
import type { AgentClient } from "../client.ts"
import type { Action, Running } from "../enforce/guard.ts"
import type { Json } from "../wire.ts"
import { makeHolds } from "./holds.ts"
import { plainJson } from "./plain-json.ts"

/** Options for governing the tools of a framework. */
export interface GovernOptions {
  /** Names what belongs together in the record; random where it is left out. */
  readonly runId?: string | undefined
  /** Time for which a call waits for a person. Default 50,000; at most 55,000. Unit: milliseconds. */
  readonly holdMs?: number | undefined
  /** Tools that change nothing outside the agent: they may run while the service is away for up to a minute. */
  readonly readOnly?: ReadonlyArray<string> | undefined
  /**
   * Tools that run somewhere else (at the model's provider, in a browser), which no gate in this process can stop. A
   * tool of that kind that is not named here is refused when the tools are governed.
   */
  readonly ungoverned?: ReadonlyArray<string> | undefined
}

/** Calls one tool. `effect` is given a copy of the input, and a signal that ends with the caller's or on a halt. */
export type FrameworkCall = <A>(
  tool: string,
  input: unknown,
  effect: (input: Json, signal: AbortSignal) => A | Promise<A>,
  callerSignal?: AbortSignal,
  toolServer?: string
) => Promise<A>

/** A tool that cannot be governed, and is not listed in `ungoverned`. */
export class ToolNotGoverned extends Error {
  override readonly name = "ToolNotGoverned"
  constructor(tool: string, why: string) {
    super(`The tool ${tool} cannot be governed: ${why}. Leave it out, or name it in \`ungoverned\`.`)
  }
}

/** Makes the calls of one agent. Fails: `RangeError` where `holdMs` is above 55,000. */
export const frameworkCalls = (
  agent: AgentClient,
  { holdMs, readOnly = [], runId = crypto.randomUUID() }: GovernOptions
): FrameworkCall => {
  const holds = makeHolds({ agent, reviews: agent.reviews, holdMs })
  const reads = new Set(readOnly)
  let step = 0
  return (tool, input, effect, callerSignal, toolServer) => {
    const action: Action = {
      name: tool,
      runId,
      step: ++step,
      effect: reads.has(tool) ? "read" : "side_effect",
      capture: "framework_hook",
      ...(toolServer === undefined ? {} : { toolServer })
    }
    const run = (args: Json, { signal }: Running) =>
      // A copy of its own: what the tool does to it is not what was judged and is witnessed.
      effect(plainJson(args), callerSignal === undefined ? signal : AbortSignal.any([signal, callerSignal]))
    return guarded(input, (args) => holds.guard(action, args, (running) => run(args, running), callerSignal))
  }
}

/** Judges a copy. An input that has none is denied by the guard, which records it. */
const guarded = async <A>(input: unknown, call: (args: Json) => Promise<A>): Promise<A> => {
  let args = input as Json
  try {
    args = plainJson(input)
  } catch {
    // The guard accepts less than this copy does.
  }
  return call(args)
}
