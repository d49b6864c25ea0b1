/** Real MCP servers with the same tools, and real clients of both SDKs that reach them through a governed transport. */
import {
  Client as ClientV2,
  InMemoryTransport as MemoryV2,
  StreamableHTTPClientTransport
} from "@modelcontextprotocol/client"
import { createMcpHandler, inputRequired, McpServer as ServerV2 } from "@modelcontextprotocol/server"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport as MemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js"
import { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js"
import * as z from "zod"
import type { TransportLike } from "../transport.ts"

/** Calls that the tools ran, and the calls of `slow` that still run. */
export interface Deeds {
  readonly ran: Array<{ readonly tool: string; readonly args: unknown }>
  /** Calls of `slow` that run; each ends by its entry. */
  readonly slow: Array<() => void>
}

/** A text result. */
const text = (value: string, isError = false) => ({ content: [{ type: "text" as const, text: value }], isError })

/** Adds the tools to a server of either SDK. */
export const addTools = (server: ServerV1 | ServerV2, deeds: Deeds): void => {
  const refund = { amount: z.number(), token: z.string().optional() }
  const one = server as ServerV2
  one.registerTool("refund", { inputSchema: z.object(refund) }, (args: { amount: number }) => {
    deeds.ran.push({ tool: "refund", args })
    return text(`refunded ${args.amount}`)
  })
  one.registerTool("lookup", { inputSchema: z.object({}) }, () => {
    deeds.ran.push({ tool: "lookup", args: {} })
    return text("found")
  })
  one.registerTool("fail", { inputSchema: z.object({}) }, () => {
    deeds.ran.push({ tool: "fail", args: {} })
    return text("no such order", true)
  })
  one.registerTool("slow", { inputSchema: z.object({}) }, async () => {
    deeds.ran.push({ tool: "slow", args: {} })
    await new Promise<void>((resolve) => deeds.slow.push(resolve))
    return text("late")
  })
}

/** A client of either SDK, as the tests use it. */
export interface ToolClient {
  callTool(
    params: { name: string; arguments?: { [name: string]: unknown } },
    options?: { readonly signal?: AbortSignal }
  ): Promise<{ readonly isError?: boolean; readonly text: string; readonly raw: { readonly _meta?: unknown } }>
  listTools(): Promise<ReadonlyArray<string>>
  close(): Promise<void>
}

/** Puts a governed transport around the client's own. */
export type Around = <T extends TransportLike>(transport: T) => T

// oxlint-disable-next-line no-explicit-any
const reading = (result: any) => ({ isError: result.isError, text: String(result.content?.[0]?.text), raw: result })

/** The SDKs, protocols and transports under test. */
export const connections: ReadonlyArray<{
  readonly name: string
  readonly connect: (around: Around, deeds: Deeds) => Promise<ToolClient>
}> = [
  {
    name: "@modelcontextprotocol/sdk 1, in memory",
    connect: async (around, deeds) => {
      const server = new ServerV1({ name: "shop", version: "1" })
      addTools(server, deeds)
      const [mine, theirs] = MemoryV1.createLinkedPair()
      await server.connect(theirs)
      const client = new ClientV1({ name: "test", version: "1" })
      await client.connect(around(mine))
      return {
        callTool: async (params, options) => reading(await client.callTool(params, undefined, options)),
        listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
        close: () => client.close()
      }
    }
  },
  {
    name: "@modelcontextprotocol/client 2, in memory",
    connect: async (around, deeds) => {
      const server = new ServerV2({ name: "shop", version: "1" })
      addTools(server, deeds)
      const [mine, theirs] = MemoryV2.createLinkedPair()
      await server.connect(theirs)
      return connectV2(new ClientV2({ name: "test", version: "1" }), around(mine))
    }
  },
  {
    name: "@modelcontextprotocol/client 2, protocol 2026-07-28 over HTTP",
    connect: async (around, deeds) => {
      const handler = createMcpHandler(() => {
        const server = new ServerV2({ name: "shop", version: "1" })
        addTools(server, deeds)
        return server
      })
      const client = new ClientV2({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } })
      return connectV2(client, around(httpTransport((request) => handler.fetch(request))))
    }
  }
]

const connectV2 = async (client: ClientV2, transport: TransportLike): Promise<ToolClient> => {
  await client.connect(transport as never)
  return {
    callTool: async (params, options) => reading(await client.callTool(params, options)),
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close()
  }
}

/** A transport over HTTP to a handler in this process. */
const httpTransport = (handle: (request: Request) => Promise<Response>): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(new URL("http://shop.test/mcp"), {
    fetch: (url, init) => handle(new Request(url, init))
  })

/** A client and a server of which the tool `transfer` asks the client for a confirmation before it runs. */
export const connectInRounds = async (around: Around, deeds: Deeds, confirm: () => boolean) => {
  const handler = createMcpHandler(() => {
    const server = new ServerV2({ name: "shop", version: "1" })
    server.registerTool("transfer", { inputSchema: z.object({ amount: z.number() }) }, (args, context) => {
      const answer = context.mcpReq.inputResponses?.["confirm"]
      if (answer === undefined)
        return inputRequired({
          inputRequests: {
            confirm: inputRequired.elicit({ message: "Sure?", requestedSchema: z.object({ sure: z.boolean() }) })
          },
          requestState: "approved-by-the-server"
        })
      deeds.ran.push({ tool: "transfer", args })
      return text("transferred")
    })
    return server
  })
  const client = new ClientV2(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {} } } }
  )
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { sure: confirm() } }))
  return connectV2(client, around(httpTransport((request) => handler.fetch(request))))
}
