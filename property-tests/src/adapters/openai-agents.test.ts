/**
 * The adapter of the OpenAI Agents SDK, with the real `@openai/agents` and its scripted model, against a real server.
 */
import { governAgent, stopWhenHalted } from "@flyball/client/openai-agents"
import { Agent, run, RunState, setTracingDisabled, tool } from "@openai/agents"
import {
  assistantMessage,
  functionCall,
  modelResponder,
  modelStreamResponder,
  ScriptedModel
} from "@openai/agents/testing"
import { type AdapterUnderTest, describeAdapter, type TestCall, type TestTool, TOOL_INPUT } from "./conformance.ts"

setTracingDisabled(true)

/** A model that asks for these calls, and says "done" once it was shown their results. */
const modelOf = (calls: ReadonlyArray<TestCall>, isStreamed = false) => {
  const requested = calls.map(({ input, tool: name }, index) => functionCall(name, input, { callId: `call-${index}` }))
  const shown = new Map<string, string>()
  const read = ({ request }: { readonly request: { readonly input: unknown } }): void => {
    for (const item of request.input as ReadonlyArray<{ type: string; callId: string; output: unknown }>)
      if (item.type === "function_call_result") shown.set(item.callId, JSON.stringify(item.output))
  }
  const usage = { inputTokens: 10, outputTokens: 2, totalTokens: 12 }
  const model = new ScriptedModel([
    requested,
    isStreamed
      ? modelStreamResponder(function* (call) {
          read(call)
          for (const delta of ["do", "ne"]) yield { type: "output_text_delta" as const, delta }
          const output = [assistantMessage("done")]
          yield { type: "response_done" as const, response: { id: "r", usage, output } }
        })
      : modelResponder((call) => {
          read(call)
          return [assistantMessage("done")]
        })
  ])
  const answers = () => calls.flatMap((_, index) => shown.get(`call-${index}`) ?? [])
  return { model, answers }
}

const toolOf = ({ name, run: deed }: TestTool, needsApproval: () => boolean) =>
  tool({
    name,
    description: name,
    strict: false,
    parameters: { ...TOOL_INPUT, required: [], additionalProperties: true } as never,
    needsApproval: async () => needsApproval(),
    execute: (input, _, details) => deed(input as { [name: string]: unknown }, details?.signal)
  })

const openaiAgents: AdapterUnderTest = {
  name: "openai-agents",
  open: async ({ agent, holdMs, tools: given }) => {
    let isPutOff = false
    const tools = given.map((one) => toolOf(one, () => isPutOff))
    const governed = (model: ScriptedModel) => governAgent(new Agent({ name: "bot", model, tools }), agent, { holdMs })
    const callModelInputFilter = stopWhenHalted(agent)
    const failureOf = (running: Promise<unknown>): Promise<string | null> =>
      running.then(
        () => null,
        (cause: unknown) => String(cause)
      )
    return {
      turn: async (calls) => {
        const { answers, model } = modelOf(calls)
        const failure = await failureOf(run(governed(model), "go", { callModelInputFilter }))
        return { answers: answers(), failure }
      },
      stream: async (calls) => {
        const { answers, model } = modelOf(calls, true)
        const pieces: Array<string> = []
        const streaming = await run(governed(model), "go", { stream: true, callModelInputFilter })
        for await (const piece of streaming.toTextStream()) pieces.push(piece)
        return { answers: answers(), failure: await failureOf(streaming.completed), pieces }
      },
      defer: async (call, changed) => {
        const { answers, model } = modelOf([call])
        const bot = governed(model)
        isPutOff = true
        const first = await run(bot, "go")
        // The state is stored, and comes back with other arguments in it.
        const text = first.state.toString().replaceAll(written(call.input), written(changed))
        const state = await RunState.fromString(bot, text)
        for (const one of state.getInterruptions()) state.approve(one)
        const failure = await failureOf(run(bot, state, { callModelInputFilter }))
        isPutOff = false
        return { answers: answers(), failure }
      }
    }
  }
}

/** Arguments as they stand in a serialised state: a text inside of a text. */
const written = (input: TestCall["input"]): string => JSON.stringify(JSON.stringify(input))

describeAdapter(openaiAgents)
