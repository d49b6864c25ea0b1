/**
 * A support agent that knows nothing of Flyball: it starts its MCP server as it always did, but for the command
 * `flyball-mcp-proxy` in front of it.
 */
import { fileURLToPath } from "node:url"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { openService, printRecord } from "./service.mjs"
import { CALLS } from "./shop.mjs"

// The proxy's key is a gateway's: its decisions may say that they were mediated.
const service = await openService("mcp-proxy-bot", { gateway: true })

const shop = [process.execPath, fileURLToPath(new URL("shop-server.mjs", import.meta.url))]
const options = ["--agent", "mcp-proxy-bot", "--server", "shop", "--signals", "cents", "--redact", "card_number"]
const mcp = new Client({ name: "mcp-proxy-bot", version: "1.0.0" })
await mcp.connect(
  new StdioClientTransport({
    command: "npx",
    args: ["--no", "--", "flyball-mcp-proxy", ...options, "--", ...shop],
    env: { ...process.env, FLYBALL_URL: service.url, FLYBALL_KEY: service.key },
    stderr: "ignore"
  })
)

/** Calls a tool, and prints what its model would read. */
const call = async ([name, input]) => {
  const { content } = await mcp.callTool({ name, arguments: input })
  // The proxy and the service word a halt differently; which of them knows of it first is a matter of milliseconds.
  console.log(`  the model reads: ${content[0].text.split(". ")[0].replace(/\.$/, "")}`)
}

console.log("turn 1")
for (const one of CALLS) await call(one)

console.log("turn 2, after an operator stopped the agent")
await service.halt()
await call(["refund", { order: "W300", cents: 100, card_number: "4000 0000 0000 0002" }])

await mcp.close()
await printRecord(service)
await service.close()
