/** A real MCP server on stdio, for the proxy's tests. It says on stderr what its tools did and what it was sent. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import * as z from "zod"

const server = new McpServer({ name: "shop", version: "1" })
const say = (line: string): void => void process.stderr.write(`${line}\n`)

server.registerTool("refund", { inputSchema: { amount: z.number(), token: z.string().optional() } }, (args) => {
  say(`ran refund ${args.amount}`)
  return { content: [{ type: "text", text: `refunded ${args.amount}` }] }
})
server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text }) => {
  say(`ran echo ${text.length}`)
  return { content: [{ type: "text", text }] }
})
server.registerTool("slow", { inputSchema: {} }, async (_, { signal }) => {
  say("ran slow")
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
  say("slow was cancelled")
  return { content: [] }
})
server.registerTool("leave", { inputSchema: {} }, () => process.exit(7))
server.registerTool("environment", { inputSchema: {} }, () => ({
  content: [{ type: "text", text: Object.keys(process.env).join(",") }]
}))

await server.connect(new StdioServerTransport())
process.stdin.on("end", () => process.exit(0))
