// An agent on OpenAI's client. Base URL, key and one header are all that it knows of Flyball.
import OpenAI from "openai"
import { startFlyball } from "./flyball.mjs"
import { startModel } from "./model.mjs"

const model = await startModel()
const flyball = await startFlyball(model.url)
const client = new OpenAI({
  apiKey: flyball.key,
  baseURL: `${flyball.url}/v1/gateway`,
  defaultHeaders: { "X-Flyball-Agent": flyball.agent.id }
})

const ask = async (question, onText = () => undefined) => {
  const stream = client.chat.completions.stream({
    model: "small-1",
    messages: [{ role: "user", content: question }],
    max_tokens: 200
  })
  stream.on("content", onText)
  const [{ finish_reason: reason, message }] = (await stream.finalChatCompletion()).choices
  const calls = (message.tool_calls ?? []).map((one) => one.function.name)
  console.log(`${question}: ${reason}, calls [${calls}], says ${JSON.stringify(message.content)}`)
}

await ask("get_order")
await ask("refund")
await ask("wait", () =>
  flyball.governor.kill.activate({ target_type: "agent", target_id: flyball.agent.id, reason: "An operator looks." })
)
await ask("get_order").catch((error) => console.log(`get_order: ${error.status} ${error.code}`))

const usage = await fetch(`${flyball.url}/v1/usage`, { headers: { authorization: `Bearer ${flyball.key}` } })
console.log(`tokens used: ${(await usage.json()).tokens_used}`)
for (const { action, capture, kind, status } of (await flyball.governor.decisions(flyball.agent.id)).toReversed())
  console.log(`on record: ${kind} ${action} ${status} (${capture})`)

flyball.server.closeAllConnections()
model.server.closeAllConnections()
flyball.server.close()
model.server.close()
await flyball.governor.close()
