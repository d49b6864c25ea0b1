/**
 * A support agent on the Claude Agent SDK, governed by `@flyball/client/claude-agent-sdk`. The SDK's real program runs,
 * with a model on a loopback port: no key and no network.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { openClient } from "@flyball/client"
import { governClaude } from "@flyball/client/claude-agent-sdk"
import { z } from "zod"
import { openMockMessages } from "./mock-messages.mjs"
import { openService, printRecord } from "./service.mjs"
import { CALLS, lookup, refund, signals } from "./shop.mjs"

const service = await openService("claude-bot")
const { key, url } = service

const client = openClient({ url, key, signals, redact: ["card_number"] })
const agent = await client.register({ name: "claude-bot" })

/** Leave its address out, and the SDK's own settings name the model. */
const calls = CALLS.map(([name, input]) => [`mcp__shop__${name}`, input])
const sentence = "One refund was made; the other needs a person."
const model = await openMockMessages(calls, sentence, (text) => console.log(`  the model reads: ${text}`))
const home = mkdtempSync(join(tmpdir(), "flyball-example-"))

const order = z.string()
const answer = (text) => ({ content: [{ type: "text", text }] })
const run = async (prompt) => {
  const shop = createSdkMcpServer({
    name: "shop",
    alwaysLoad: true,
    tools: [
      tool("lookup", "Finds an order.", { order }, async (input) => answer(await lookup(input))),
      tool("refund", "Pays money back.", { order, cents: z.number().int(), card_number: z.string() }, async (input) =>
        answer(await refund(input))
      )
    ]
  })
  const nameOf = (name) => name.replace("mcp__shop__", "")
  const options = {
    ...governClaude(agent, { nameOf, readOnly: ["mcp__shop__lookup"] }),
    mcpServers: { shop },
    allowedTools: ["mcp__shop"],
    settingSources: [],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "of-an-example",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1"
    }
  }
  const refused = []
  let result = null
  for await (const message of query({ prompt, options })) {
    if (message.type === "result") result = message
    if (message.type !== "user" || !Array.isArray(message.message.content)) continue
    for (const { content, is_error } of message.message.content) if (is_error) refused.push(content)
  }
  return { refused, result }
}

console.log("turn 1")
const { result } = await run("Refund W100 and W200, please.")
console.log(`  the agent says: ${result.result}`)

console.log("turn 2, after an operator stopped the agent")
await service.halt()
await agent.kill.refresh()
const { refused } = await run("Refund W300, please.")
for (const reason of refused) console.log(`  refused: ${reason.replace(/^.*error: /, "")}`)

await client.close()
await printRecord(service)
await service.close()
model.close()
rmSync(home, { recursive: true, force: true })
