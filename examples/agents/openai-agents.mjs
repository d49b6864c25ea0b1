/**
 * A support agent on the OpenAI Agents SDK, governed by `@flyball/client/openai-agents`. Its model is the SDK's own
 * scripted one: no network.
 */
import { openClient } from "@flyball/client"
import { governAgent, stopWhenHalted } from "@flyball/client/openai-agents"
import { Agent, run, setTracingDisabled, tool } from "@openai/agents"
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing"
import { z } from "zod"
import { openService, printRecord } from "./service.mjs"
import { CALLS, lookup, refund, signals } from "./shop.mjs"

setTracingDisabled(true)
const service = await openService("openai-bot")
const { key, url } = service

const client = openClient({ url, key, signals, redact: ["card_number"] })
const agent = await client.register({ name: "openai-bot" })

/** Replace it by the name of a model. */
const model = new ScriptedModel([
  CALLS.map(([name, input], index) => functionCall(name, input, { callId: `call-${index}` })),
  modelResponder(({ request }) => {
    for (const { output, type } of request.input)
      if (type === "function_call_result") console.log(`  the model reads: ${output.text}`)
    return [assistantMessage("One refund was made; the other needs a person.")]
  })
])

const order = z.string()
const bot = governAgent(
  new Agent({
    name: "support",
    model,
    tools: [
      tool({ name: "lookup", description: "Finds an order.", parameters: z.object({ order }), execute: lookup }),
      tool({
        name: "refund",
        description: "Pays money back.",
        parameters: z.object({ order, cents: z.number().int(), card_number: z.string() }),
        execute: refund
      })
    ]
  }),
  agent,
  { readOnly: ["lookup"] }
)
const callModelInputFilter = stopWhenHalted(agent)

console.log("turn 1")
const { finalOutput } = await run(bot, "Refund W100 and W200, please.", { callModelInputFilter })
console.log(`  the agent says: ${finalOutput}`)

console.log("turn 2, after an operator stopped the agent")
await service.halt()
await agent.kill.refresh()
await run(bot, "Refund W300, please.", { callModelInputFilter }).catch((cause) =>
  console.log(`  the run ends: ${cause.name}, ${cause.outcome} by ${cause.rule}`)
)

await client.close()
await printRecord(service)
await service.close()
