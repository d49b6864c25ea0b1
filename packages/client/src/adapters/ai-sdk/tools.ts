/**
 * Puts the gate around `execute` of each tool: the one place that every local call passes, right before its effect.
 *
 * `toolApproval` is a setting of each call, and one that forgets it runs the tools; `executeTool` of telemetry can be
 * switched off by a call; a model's middleware that takes a call out leaves no trace of it. A call that the
 * framework put off and resumes passes here again, with the arguments that it then has.
 */
import type { ToolSet } from "ai"
import { type FrameworkCall, frameworkCalls, type GovernOptions } from "../framework-calls.ts"
import { ToolNotGoverned } from "../framework-calls.ts"
import type { AgentClient } from "../../client.ts"
import type { Json } from "../../wire.ts"

/** `execute` of a tool, as far as the gate reads it. */
type Execute = (input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }) => unknown

/**
 * Returns the same tools, each governed. Pass these to `generateText`, `streamText` or an agent in place of your own.
 *
 * They are frozen: a tool that is put in later would not be governed. A refused call ends as a tool's error whose text
 * the model reads. A tool is given a copy of its input, and an `abortSignal` that also aborts on a halt.
 *
 * - Fails: {@link ToolNotGoverned} on a tool that does not run in this process and is not in `ungoverned`.
 */
export const governTools = <T extends ToolSet>(tools: T, agent: AgentClient, options: GovernOptions = {}): T => {
  const call = frameworkCalls(agent, options)
  const ungoverned = new Set(options.ungoverned)
  const governed = Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const execute = tool.execute as Execute | undefined
      if (tool.type === "provider" && tool.isProviderExecuted) {
        if (ungoverned.has(name)) return [name, tool]
        throw new ToolNotGoverned(name, "the model's provider runs it")
      }
      if (execute === undefined) {
        if (ungoverned.has(name)) return [name, tool]
        throw new ToolNotGoverned(name, "it has no execute function, so something else runs it")
      }
      return [
        name,
        Object.freeze({
          ...tool,
          execute: isStreaming(execute) ? streamed(call, name, execute) : plain(call, name, execute)
        })
      ]
    })
  )
  // A tool that is put in later would not be governed.
  return Object.freeze(governed) as T
}

/** Known before the tool is called, because calling it is the effect. */
const isStreaming = (execute: Execute): boolean =>
  Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]"

const plain =
  (call: FrameworkCall, name: string, execute: Execute): Execute =>
  (input, options) =>
    call(
      name,
      input,
      async (args, abortSignal) => lastOf(await execute(args, { ...options, abortSignal })),
      options.abortSignal
    )

/** The last output of a tool that streams although it is no `async function*`; any other output as it is. */
const lastOf = async (output: unknown): Promise<unknown> => {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output
  let last: unknown
  for await (const one of output as AsyncIterable<unknown>) last = one
  return last
}

/** A tool that yields its outputs. Its effect ends with the last one, or when nobody takes them any more. */
const streamed = (call: FrameworkCall, name: string, execute: Execute): Execute =>
  async function* (input, options) {
    const { readable, writable } = new TransformStream<unknown, unknown>()
    const writer = writable.getWriter()
    const reader = readable.getReader()
    const effect = async (args: Json, abortSignal: AbortSignal): Promise<unknown> => {
      let last: unknown
      for await (const output of execute(args, { ...options, abortSignal }) as AsyncIterable<unknown>) {
        last = output
        await writer.write(output)
      }
      return last
    }
    const ended = call(name, input, effect, options.abortSignal).finally(() => writer.close().catch(() => undefined))
    // Awaited below, but only once every output was taken.
    ended.catch(() => undefined)
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
      await ended
    } finally {
      await reader.cancel(new Error("The caller stopped reading the outputs."))
    }
  }
