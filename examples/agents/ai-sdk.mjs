/** A support agent on the AI SDK, governed by `@flyball/client/ai-sdk`. Its model is the SDK's own mock: no network. */
import { openClient } from "@flyball/client"
import { governModel, governTools } from "@flyball/client/ai-sdk"
import { stepCountIs, tool, ToolLoopAgent, wrapLanguageModel } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { z } from "zod"
import { openService, printRecord } from "./service.mjs"
import { CALLS, lookup, refund, signals } from "./shop.mjs"

const service = await openService("ai-sdk-bot")
const { key, url } = service

const client = openClient({ url, key, signals, redact: ["card_number"] })
const agent = await client.register({ name: "ai-sdk-bot" })

/** Replace it by a model of a provider. */
const mock = new MockLanguageModelV4({
  modelId: "mock",
  doGenerate: async ({ prompt }) => {
    const results = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content)
    for (const { output } of results) console.log(`  the model reads: ${output.value}`)
    const content =
      results.length > 0
        ? [{ type: "text", text: "One refund was made; the other needs a person." }]
        : CALLS.map(([toolName, input], index) => ({
            type: "tool-call",
            toolCallId: `call-${index}`,
            toolName,
            input: JSON.stringify(input)
          }))
    const unified = results.length > 0 ? "stop" : "tool-calls"
    return {
      content,
      finishReason: { unified, raw: unified },
      usage: { inputTokens: { total: 120 }, outputTokens: { total: 30 } },
      warnings: []
    }
  }
})

const order = z.string()
const bot = new ToolLoopAgent({
  model: wrapLanguageModel({ model: mock, middleware: governModel(agent) }),
  tools: governTools(
    {
      lookup: tool({ inputSchema: z.object({ order }), execute: lookup }),
      refund: tool({
        inputSchema: z.object({ order, cents: z.number().int(), card_number: z.string() }),
        execute: refund
      })
    },
    agent,
    { readOnly: ["lookup"] }
  ),
  stopWhen: stepCountIs(5)
})

console.log("turn 1")
console.log(`  the agent says: ${(await bot.generate({ prompt: "Refund W100 and W200, please." })).text}`)

console.log("turn 2, after an operator stopped the agent")
await service.halt()
await agent.kill.refresh()
await bot
  .generate({ prompt: "Refund W300, please." })
  .catch((cause) => console.log(`  the run ends: ${cause.name}, ${cause.outcome} by ${cause.rule}`))

await client.close()
await printRecord(service)
await service.close()
