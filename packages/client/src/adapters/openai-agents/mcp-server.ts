/** Governs the tool calls of an MCP server that an agent holds. */
import type { MCPServer } from "@openai/agents"
import { ActionDenied } from "../../enforce/denied.ts"
import { EffectFailed } from "../../enforce/guard.ts"
import type { Json } from "../../wire.ts"
import type { FrameworkCall } from "../framework-calls.ts"

type CallTool = MCPServer["callTool"]
type CallToolResult = NonNullable<MCPServer["callToolResult"]>
type Content = Awaited<ReturnType<CallTool>>
type Result = Awaited<ReturnType<CallToolResult>>

/** The same server, whose tools run only where they may. A refused call is answered with the reason, as a failure. */
export const governServer = (server: MCPServer, call: FrameworkCall): MCPServer => {
  const governed = async <A extends Content | Result>(
    tool: string,
    args: Parameters<CallTool>[1],
    signal: AbortSignal | undefined,
    run: (args: { [name: string]: unknown }, signal: AbortSignal) => Promise<A>,
    refusal: (message: string) => A
  ): Promise<A> => {
    let answered: { readonly answer: A } | null = null
    try {
      const effect = async (judged: Json, abort: AbortSignal): Promise<A> => {
        const answer = await run(judged as { [name: string]: unknown }, abort)
        answered = { answer }
        if ((answer as { readonly isError?: boolean }).isError === true)
          throw new EffectFailed("The tool answered with an error.", answer as unknown as Json)
        return answer
      }
      return await call(tool, args ?? {}, effect, signal, server.name)
    } catch (cause) {
      if (answered !== null) return (answered as { readonly answer: A }).answer
      if (cause instanceof ActionDenied) return refusal(cause.message)
      throw cause
    }
  }
  const textOf = (text: string): Content => [{ type: "text", text }]

  const callTool: CallTool = (tool, args, meta, options) =>
    governed(
      tool,
      args,
      options?.signal,
      (judged, signal) => server.callTool(tool, judged, meta, { ...options, signal }),
      textOf
    )
  const callToolResult: CallToolResult = (tool, args, meta, options) =>
    governed(
      tool,
      args,
      options?.signal,
      (judged, signal) => server.callToolResult!(tool, judged, meta, { ...options, signal }),
      (message) => ({ content: textOf(message), isError: true }) as Result
    )

  return new Proxy(server, {
    get: (target, name) => {
      if (name === "callTool") return callTool
      if (name === "callToolResult") return target.callToolResult === undefined ? undefined : callToolResult
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    }
  })
}
