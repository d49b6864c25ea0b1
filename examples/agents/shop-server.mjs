/** The shop as an MCP server on stdio. It knows nothing of Flyball. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"
import { lookup, refund } from "./shop.mjs"

// The output is the connection: what the shop prints goes to the other stream.
console.log = console.error

const order = z.string()
const answer = (text) => ({ content: [{ type: "text", text }] })
const server = new McpServer({ name: "shop", version: "1.0.0" })
server.registerTool("lookup", { inputSchema: { order } }, async (input) => answer(await lookup(input)))
server.registerTool(
  "refund",
  { inputSchema: { order, cents: z.number().int(), card_number: z.string() } },
  async (input) => answer(await refund(input))
)
await server.connect(new StdioServerTransport())
