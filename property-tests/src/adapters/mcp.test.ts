/** The adapter of MCP and its proxy, with the real SDKs, against a real server. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { governTransport } from "@flyball/client/mcp"
import {
  Client as ClientV2,
  InMemoryTransport as MemoryV2,
  StreamableHTTPClientTransport as HttpV2
} from "@modelcontextprotocol/client"
import { fromJsonSchema, createMcpHandler, McpServer as ServerV2 } from "@modelcontextprotocol/server"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport as MemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js"
import { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { governCalls } from "../../../packages/client/src/adapters/mcp/calls.ts"
import { governHttp } from "../../../packages/client/src/adapters/mcp/proxy/http.ts"
import {
  type AdapterUnderTest,
  describeAdapter,
  type Session,
  type TestCall,
  type TestTool,
  TOOL_INPUT
} from "./conformance.ts"

type Input = { readonly [name: string]: unknown }

/** The tools of a case, and those that run: a turn ends when they have, whatever the client was answered before. */
const watched = (tools: ReadonlyArray<TestTool>) => {
  const running = new Set<Promise<unknown>>()
  const run = async (name: string, input: Input, signal: AbortSignal) => {
    const { run: does } = tools.find((one) => one.name === name)!
    const work = does(input, signal)
    running.add(work)
    try {
      return { content: [{ type: "text" as const, text: await work }] }
    } catch (cause) {
      return { content: [{ type: "text" as const, text: String(cause) }], isError: true }
    } finally {
      running.delete(work)
    }
  }
  return { run, rest: () => Promise.allSettled(running) }
}

type Run = ReturnType<typeof watched>["run"]

const serverV1 = (tools: ReadonlyArray<TestTool>, run: Run): ServerV1 => {
  const server = new ServerV1({ name: "shop", version: "1" }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name }) => ({ name, inputSchema: TOOL_INPUT as never }))
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
    run(params.name, params.arguments ?? {}, signal)
  )
  return server
}

const serverV2 = (tools: ReadonlyArray<TestTool>, run: Run): ServerV2 => {
  const server = new ServerV2({ name: "shop", version: "1" })
  for (const { name } of tools)
    server.registerTool(name, { inputSchema: fromJsonSchema(TOOL_INPUT as never) }, (input, { mcpReq }) =>
      run(name, input as Input, mcpReq.signal)
    )
  return server
}

/** A session of a client of either SDK. */
const sessionOf = (
  client: { callTool: (params: never) => Promise<unknown>; close: () => Promise<void> },
  rest: () => Promise<unknown>,
  close: () => Promise<void> = () => Promise.resolve()
): Session => ({
  turn: async (calls: ReadonlyArray<TestCall>) => {
    const answers = await Promise.all(
      calls.map(({ input, tool }) =>
        client.callTool({ name: tool, arguments: input } as never).then((one) => JSON.stringify(one), String)
      )
    )
    await rest()
    return { answers, failure: null }
  },
  close: async () => {
    await client.close()
    await close()
  }
})

const listening = async (server: Server): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

const adapters: ReadonlyArray<AdapterUnderTest> = [
  {
    name: "mcp, SDK 1",
    open: async ({ agent, holdMs, tools }) => {
      const { rest, run } = watched(tools)
      const [mine, theirs] = MemoryV1.createLinkedPair()
      await serverV1(tools, run).connect(theirs)
      const client = new ClientV1({ name: "test", version: "1" })
      await client.connect(governTransport(mine, agent, { holdMs, toolServer: "shop" }))
      return sessionOf(client as never, rest)
    }
  },
  {
    name: "mcp, SDK 2",
    open: async ({ agent, holdMs, tools }) => {
      const { rest, run } = watched(tools)
      const [mine, theirs] = MemoryV2.createLinkedPair()
      await serverV2(tools, run).connect(theirs)
      const client = new ClientV2({ name: "test", version: "1" })
      await client.connect(governTransport(mine, agent, { holdMs, toolServer: "shop" }))
      return sessionOf(client as never, rest)
    }
  },
  {
    name: "mcp, the proxy over HTTP, SDK 2 with protocol 2026-07-28",
    open: async ({ agent, holdMs, tools }) => {
      const { rest, run } = watched(tools)
      const handler = createMcpHandler(() => serverV2(tools, run))
      const upstream = await listening(
        createServer((request, response) => {
          void (async () => {
            const pieces: Array<Uint8Array> = []
            for await (const piece of request) pieces.push(piece as Uint8Array)
            const ending = new AbortController()
            response.on("close", () => ending.abort())
            const headers = request.headers as Record<string, string>
            const body = Buffer.concat(pieces)
            const init = {
              method: request.method!,
              headers,
              signal: ending.signal,
              ...(body.length > 0 ? { body } : {})
            }
            const answer = await handler.fetch(new Request(`http://shop.test${request.url}`, init))
            response.writeHead(answer.status, Object.fromEntries(answer.headers))
            if (answer.body !== null) for await (const piece of answer.body) response.write(piece)
            response.end()
          })()
        })
      )
      const calls = governCalls(agent, { holdMs, toolServer: "shop" })
      const session = { calls: () => Promise.resolve(calls), close: () => Promise.resolve() }
      const proxy = await listening(governHttp({ upstream: upstream.url, session, log: () => undefined }))
      const client = new ClientV2({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } })
      await client.connect(new HttpV2(new URL(proxy.url)))
      return sessionOf(client as never, rest, async () => {
        await proxy.close()
        await upstream.close()
      })
    }
  }
]

for (const adapter of adapters) describeAdapter(adapter)
