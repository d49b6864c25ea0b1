/** The adapter of the AI SDK, with the real `ai` and its mock model, against a real server. */
import { governTools } from "@flyball/client/ai-sdk"
import {
  generateText,
  jsonSchema,
  type ModelMessage,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
  type ToolSet
} from "ai"
import { MockLanguageModelV4 } from "ai/test"
import {
  type AdapterUnderTest,
  describeAdapter,
  type TestCall,
  type TestTool,
  TOOL_INPUT,
  type Turn
} from "./conformance.ts"

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>
type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>
type Prompt = Parameters<MockLanguageModelV4["doGenerate"]>[0]["prompt"]
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 }
}
const reasonOf = (unified: "stop" | "tool-calls") => ({ unified, raw: unified })

/** A model that asks for these calls, and says "done" once it was shown their results. */
export const modelOf = (calls: ReadonlyArray<TestCall>): MockLanguageModelV4 => {
  const requested = calls.map(({ input, tool: toolName }, index) => ({
    type: "tool-call" as const,
    toolCallId: `call-${index}`,
    toolName,
    input: JSON.stringify(input)
  }))
  const isShown = (prompt: Prompt): boolean => prompt.some(({ role }) => role === "tool")
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<Generated> =>
      isShown(prompt)
        ? { content: [{ type: "text", text: "done" }], finishReason: reasonOf("stop"), usage, warnings: [] }
        : { content: requested, finishReason: reasonOf("tool-calls"), usage, warnings: [] },
    doStream: async ({ prompt }): Promise<Streamed> => {
      const parts: Array<Part> = isShown(prompt)
        ? [
            { type: "text-start", id: "t" },
            ...["do", "ne"].map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
            { type: "text-end", id: "t" },
            { type: "finish", finishReason: reasonOf("stop"), usage }
          ]
        : [...requested, { type: "finish", finishReason: reasonOf("tool-calls"), usage }]
      return { stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...parts] }) }
    }
  })
}

/** Results of the calls as the model saw them last. */
const shownTo = (model: MockLanguageModelV4, calls: ReadonlyArray<TestCall>): ReadonlyArray<string> => {
  const prompt = [...model.doGenerateCalls, ...model.doStreamCalls].at(-1)?.prompt ?? []
  const results = prompt.flatMap(({ content, role }) =>
    role === "tool" ? content.filter((part) => part.type === "tool-result") : []
  )
  return calls.flatMap((_, index) => {
    const result = results.find(({ toolCallId }) => toolCallId === `call-${index}`)
    return result === undefined ? [] : [JSON.stringify(result.output)]
  })
}

const toolsOf = (tools: ReadonlyArray<TestTool>): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, run }) => [
      name,
      tool({
        inputSchema: jsonSchema<{ [name: string]: unknown }>(TOOL_INPUT as never),
        execute: (input, { abortSignal }) => run(input, abortSignal)
      })
    ])
  )

const attempt = async (model: MockLanguageModelV4, calls: ReadonlyArray<TestCall>, run: () => PromiseLike<unknown>) => {
  const failure = await run().then(
    () => null,
    (cause: unknown) => String(cause)
  )
  return { answers: shownTo(model, calls), failure } satisfies Turn
}

const aiSdk: AdapterUnderTest = {
  name: "ai-sdk",
  open: async ({ agent, holdMs, tools: given }) => {
    const tools = governTools(toolsOf(given), agent, { holdMs })
    const stopWhen = stepCountIs(5)
    return {
      turn: (calls) => {
        const model = modelOf(calls)
        return attempt(model, calls, () => generateText({ model, tools, prompt: "go", stopWhen, maxRetries: 0 }))
      },
      stream: async (calls) => {
        const model = modelOf(calls)
        const pieces: Array<string> = []
        const turn = await attempt(model, calls, async () => {
          for await (const piece of streamText({ model, tools, prompt: "go", stopWhen }).textStream) pieces.push(piece)
        })
        return { ...turn, pieces }
      },
      defer: async (call, changed) => {
        const model = modelOf([call])
        const toolApproval = { [call.tool]: "user-approval" as const }
        const first = await generateText({ model, tools, prompt: "go", stopWhen, toolApproval })
        // The messages go to a browser and come back, with other arguments in them.
        const messages: Array<ModelMessage> = JSON.parse(
          JSON.stringify([{ role: "user", content: "go" }, ...first.response.messages])
        )
        const approvals = messages.flatMap(({ content, role }) =>
          role === "assistant" && typeof content !== "string" ? content : []
        )
        const request = approvals.find((part) => part.type === "tool-approval-request")!
        for (const part of approvals) if (part.type === "tool-call") part.input = changed
        messages.push({
          role: "tool",
          content: [{ type: "tool-approval-response", approvalId: request.approvalId, approved: true }]
        })
        return attempt(model, [call], () => generateText({ model, tools, messages, stopWhen, maxRetries: 0 }))
      }
    }
  }
}

describeAdapter(aiSdk)
