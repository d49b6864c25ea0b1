/**
 * Puts the gate around `invoke` of each function tool and around the calls of each MCP server, of an agent and of all
 * agents that it hands over to.
 *
 * Guardrails of tools run before approvals or after them, as a run's configuration says, and know nothing of how the
 * tool ended; hooks report a rejected call as done. `invoke` is what the runner calls last, also when it resumes a
 * run.
 */
import type { Agent, FunctionTool, Handoff, MCPServer, Tool } from "@openai/agents"
import type { AgentClient } from "../../client.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { EffectFailed } from "../../enforce/guard.ts"
import type { Json } from "../../wire.ts"
import { type FrameworkCall, frameworkCalls, type GovernOptions, ToolNotGoverned } from "../framework-calls.ts"
import { withFailure } from "./failure.ts"
import { governServer } from "./mcp-server.ts"

/** Options of a governed agent. */
export interface OpenAiOptions extends GovernOptions {
  /**
   * True for an output that says that its tool failed, for tools that answer a failure themselves. What a tool throws
   * is known without it.
   */
  readonly isFailure?: ((tool: string, output: unknown) => boolean) | undefined
}

// oxlint-disable-next-line no-explicit-any
type AnyAgent = Agent<any, any>
// oxlint-disable-next-line no-explicit-any
type AnyTool = Tool<any>
// oxlint-disable-next-line no-explicit-any
type AnyHandoff = Handoff<any, any>
// oxlint-disable-next-line no-explicit-any
type AnyFunctionTool = FunctionTool<any, any, any>

/**
 * A copy of an agent whose tools, MCP servers and handoffs are governed. Run this one, and resume its states with it.
 *
 * A refused call ends with an output whose text the model reads. A tool with `outputSchema` cannot say so: its
 * refusal ends the run with `ActionDenied`.
 *
 * - Fails: {@link ToolNotGoverned} on a tool that is no function tool and is not in `ungoverned`, and on an agent
 * that makes   tools of its own.
 */
export const governAgent = <T extends AnyAgent>(agent: T, client: AgentClient, options: OpenAiOptions = {}): T => {
  const call = frameworkCalls(client, options)
  const ungoverned = new Set(options.ungoverned)
  const { isFailure = () => false } = options
  /** Agents hand over to each other in circles. */
  const copies = new Map<AnyAgent, AnyAgent>()

  const toolOf = (tool: AnyTool): AnyTool => {
    if (ungoverned.has(tool.name)) return tool
    if (tool.type !== "function") throw new ToolNotGoverned(tool.name, `it is no function tool but a ${tool.type}`)
    return governTool(tool, call, isFailure)
  }

  const copyOf = (of: AnyAgent): AnyAgent => {
    const made = copies.get(of)
    if (made !== undefined) return made
    if ("capabilities" in of) throw new ToolNotGoverned(of.name, "it is an agent that makes tools of its own")
    const handoffs: Array<AnyAgent | AnyHandoff> = []
    const copy: AnyAgent = of.clone({
      tools: of.tools.map(toolOf),
      mcpServers: of.mcpServers.map((server: MCPServer) => governServer(server, call)),
      handoffs
    })
    copies.set(of, copy)
    handoffs.push(...of.handoffs.map(handoffOf))
    // What is put in later would not be governed.
    for (const list of [copy.tools, copy.mcpServers, copy.handoffs]) Object.freeze(list)
    return copy
  }

  const handoffOf = (handoff: AnyAgent | AnyHandoff): AnyAgent | AnyHandoff =>
    "onInvokeHandoff" in handoff
      ? handoff.clone({
          agent: copyOf(handoff.agent),
          onInvokeHandoff: async (context, args) => copyOf(await handoff.onInvokeHandoff(context, args))
        })
      : copyOf(handoff)

  return copyOf(agent) as T
}

const governTool = (
  tool: AnyFunctionTool,
  call: FrameworkCall,
  isFailure: (tool: string, output: unknown) => boolean
): AnyFunctionTool => {
  const invoke: AnyFunctionTool["invoke"] = async (runContext, input, details) => {
    let answered: { readonly output: unknown } | null = null
    const effect = async (args: Json, signal: AbortSignal): Promise<unknown> => {
      // The tool reads what was judged, not the text that the model wrote: that may hold a name twice.
      const { failed, output } = await withFailure(tool.name, () =>
        tool.invoke(runContext, textOf(args), withSignal(details, signal))
      )
      answered = { output }
      if (failed || isFailure(tool.name, output)) throw new EffectFailed("The tool failed.", { error: output })
      return output
    }
    try {
      return await call(tool.name, inputOf(input), effect, details?.signal)
    } catch (cause) {
      if (answered !== null) return (answered as { readonly output: unknown }).output
      if (cause instanceof ActionDenied && tool.outputSchema === undefined) return cause.message
      throw cause
    }
  }
  // As the SDK copies its tools: with members that are symbols or hidden.
  const { invoke: _, ...descriptors } = Object.getOwnPropertyDescriptors(tool)
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object, descriptors) as AnyFunctionTool, { invoke })
}

/** The input as the tool reads it; a text that is no JSON stays one, and the tool's own parser refuses it. */
const inputOf = (input: string): unknown => {
  if (input === "") return {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

const textOf = (args: Json): string => (typeof args === "string" ? args : JSON.stringify(args))

const withSignal = <D extends object>(details: D | undefined, signal: AbortSignal): D => {
  const { signal: _, ...descriptors } = Object.getOwnPropertyDescriptors((details ?? {}) as D & { signal?: unknown })
  const copy = Object.create(Object.getPrototypeOf(details ?? {}) as object, descriptors as PropertyDescriptorMap) as D
  return Object.assign(copy, { signal })
}
