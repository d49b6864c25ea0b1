/** A support agent that reaches its tools by MCP, governed by `@flyball/client/mcp` around its transport. */
import { fileURLToPath } from "node:url"
import { openClient } from "@flyball/client"
import { governTransport } from "@flyball/client/mcp"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { openService, printRecord } from "./service.mjs"
import { CALLS, signals } from "./shop.mjs"

const service = await openService("mcp-bot")
const { key, url } = service

const client = openClient({ url, key, signals, redact: ["card_number"] })
const agent = await client.register({ name: "mcp-bot" })

const shop = new StdioClientTransport({
  command: process.execPath,
  args: [fileURLToPath(new URL("shop-server.mjs", import.meta.url))],
  stderr: "ignore"
})
const mcp = new Client({ name: "mcp-bot", version: "1.0.0" })
await mcp.connect(governTransport(shop, agent, { toolServer: "shop", readOnly: ["lookup"] }))

/** Calls a tool, and prints what its model would read. */
const call = async ([name, input]) => {
  const { content } = await mcp.callTool({ name, arguments: input })
  console.log(`  the model reads: ${content[0].text}`)
}

console.log("turn 1")
const { tools } = await mcp.listTools()
console.log(`  the shop has ${tools.map(({ name }) => name).join(" and ")}`)
for (const one of CALLS) await call(one)

console.log("turn 2, after an operator stopped the agent")
await service.halt()
await agent.kill.refresh()
await call(["refund", { order: "W300", cents: 100, card_number: "4000 0000 0000 0002" }])

await mcp.close()
await client.close()
await printRecord(service)
await service.close()
