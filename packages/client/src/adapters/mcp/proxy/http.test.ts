import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client"
import { createMcpHandler, McpServer as ServerV2 } from "@modelcontextprotocol/server"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { afterEach, assert, describe, it } from "vitest"
import { governedAgent, until } from "../../testing/governed-agent.ts"
import { serveService } from "../../testing/serve-service.ts"
import { governCalls } from "../calls.ts"
import { limitWaiting, type WaitingLimit } from "../waiting-limit.ts"
import { hostileMessages } from "../testing/hostile-messages.ts"
import { addTools, type Deeds } from "../testing/servers.ts"
import { taskServer } from "../testing/task-server.ts"
import { governHttp } from "./http.ts"

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  endings.push(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const piece of request) text += String(piece)
  return text
}

/** Requests that reached the server, and the calls that its tools ran. */
interface Upstream {
  readonly deeds: Deeds
  readonly seen: Array<{ readonly method: string; readonly headers: IncomingMessage["headers"]; readonly body: string }>
}

/** A real server of the SDK 1 with sessions and streams. Each session has a server of its own. */
const upstreamV1 = async (serverOf?: () => ServerV1) => {
  const upstream: Upstream = { deeds: { ran: [], slow: [] }, seen: [] }
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const url = await listening(
    createServer((request, response) => {
      void (async () => {
        const body = await textOf(request)
        upstream.seen.push({ method: request.method!, headers: request.headers, body })
        const id = request.headers["mcp-session-id"] as string | undefined
        let transport = id === undefined ? undefined : sessions.get(id)
        if (id !== undefined && transport === undefined) return void response.writeHead(404).end("no such session")
        if (transport === undefined) {
          transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => crypto.randomUUID(),
            onsessioninitialized: (made) => void sessions.set(made, transport!)
          })
          const server = serverOf?.() ?? new ServerV1({ name: "shop", version: "1" })
          if (serverOf === undefined) addTools(server, upstream.deeds)
          await server.connect(transport as never)
        }
        await transport.handleRequest(request, response, body === "" ? undefined : JSON.parse(body))
      })()
    })
  )
  return { ...upstream, url: `${url}/mcp` }
}

/** A real server of the SDK 2, protocol 2026-07-28. */
const upstreamV2 = async () => {
  const upstream: Upstream = { deeds: { ran: [], slow: [] }, seen: [] }
  const handler = createMcpHandler(() => {
    const server = new ServerV2({ name: "shop", version: "1" })
    addTools(server, upstream.deeds)
    return server
  })
  const url = await listening(
    createServer((request, response) => {
      void (async () => {
        const body = await textOf(request)
        upstream.seen.push({ method: request.method!, headers: request.headers, body })
        const ending = new AbortController()
        response.on("close", () => ending.abort())
        const answer = await handler.fetch(
          new Request(`http://shop.test${request.url}`, {
            method: request.method!,
            headers: request.headers as Record<string, string>,
            signal: ending.signal,
            ...(body === "" ? {} : { body })
          })
        )
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        if (answer.body !== null) for await (const piece of answer.body) response.write(piece)
        response.end()
      })()
    })
  )
  return { ...upstream, url: `${url}/mcp` }
}

/** A proxy in front of this address. */
const proxied = async (upstream: string, waitingLimit?: WaitingLimit) => {
  const governed = await governedAgent()
  endings.push(() => governed.client.close())
  governed.script.verdict = ({ action, signals }) =>
    action === "refund" && Number(signals["amount"]) > 100 ? "deny" : "allow"
  const calls = governCalls(governed.agent, { toolServer: "shop" })
  const said: Array<string> = []
  const session = { calls: () => Promise.resolve(calls), close: () => Promise.resolve() }
  const url = await listening(governHttp({ upstream, session, waitingLimit, log: (line) => said.push(line) }))
  return { ...governed, said, url: `${url}/mcp` }
}

const call = (name: string, args: { readonly [name: string]: unknown } = {}) => ({ name, arguments: args })

const connectV1 = async (url: string): Promise<ClientV1> => {
  const client = new ClientV1({ name: "test", version: "1" })
  const transport = new HttpV1(new URL(url), { requestInit: { headers: { authorization: "Bearer shop" } } })
  await client.connect(transport as never)
  endings.push(() => client.close())
  return client
}

/** Both SDKs, each with its own server. */
const sdks = [
  {
    name: "the SDK 1 with a session",
    serve: () => upstreamV1(),
    connect: async (url: string) => (await connectV1(url)) as unknown as ClientV2
  },
  {
    name: "the SDK 2, protocol 2026-07-28",
    serve: upstreamV2,
    connect: async (url: string) => {
      const client = new ClientV2({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } })
      const transport = new HttpV2(new URL(url), { requestInit: { headers: { authorization: "Bearer shop" } } })
      await client.connect(transport)
      endings.push(() => client.close())
      return client
    }
  }
]

describe.each(sdks)("the proxy over HTTP for $name", ({ connect, serve }) => {
  it("passes what may run with the client's own authorization, and answers what may not", async () => {
    const upstream = await serve()
    const { url, witnessed } = await proxied(upstream.url)
    const client = await connect(url)
    assert.lengthOf((await client.listTools()).tools, 4)
    assert.include(JSON.stringify(await client.callTool(call("refund", { amount: 5 }))), "refunded 5")
    const denied = await client.callTool(call("refund", { amount: 900 }))
    assert.isTrue(denied.isError)
    assert.include(JSON.stringify(denied.content), "deny by rule-deny")
    assert.deepStrictEqual(
      upstream.deeds.ran.map(({ args }) => args),
      [{ amount: 5 }]
    )
    assert.isTrue(upstream.seen.every(({ headers }) => headers["authorization"] === "Bearer shop"))
    assert.notInclude(JSON.stringify(upstream.seen), "900")
    assert.deepStrictEqual(
      (await witnessed()).map(({ action, status }) => `${action} ${status}`),
      ["tools/list ok", "refund ok", "refund denied"]
    )
  })

  it("ends what runs at a halt, and starts nothing after it", async () => {
    const upstream = await serve()
    const { halt, url, witnessed } = await proxied(upstream.url)
    const client = await connect(url)
    const running = client.callTool(call("slow"))
    await until(() => upstream.deeds.slow.length === 1)
    await halt()
    assert.include(JSON.stringify(await running), "halted while the action slow ran")
    assert.isTrue((await client.callTool(call("refund", { amount: 5 }))).isError)
    assert.deepStrictEqual(
      upstream.deeds.ran.map(({ tool }) => tool),
      ["slow"]
    )
    assert.deepStrictEqual(
      (await witnessed()).map(({ action, status }) => `${action} ${status}`),
      ["slow error", "refund denied"]
    )
    upstream.deeds.slow[0]!()
  })

  it("holds a call for a person, in a request that stays open", async () => {
    const upstream = await serve()
    const { resolve, script, url, waits } = await proxied(upstream.url)
    script.verdict = () => "require_review"
    const client = await connect(url)
    const calling = client.callTool(call("refund", { amount: 60 }))
    await until(() => waits() === 1)
    resolve("rev_1", "approve")
    assert.include(JSON.stringify(await calling), "refunded 60")
  })
})

describe("a task over HTTP", () => {
  /** A proxy in front of servers with tasks, one for each session. */
  const world = async () => {
    const shops: Array<ReturnType<typeof taskServer>> = []
    const upstream = await upstreamV1(() => {
      shops.push(taskServer())
      return shops.at(-1)!.server
    })
    const governed = await proxied(upstream.url)
    const begin = async (client: ClientV1): Promise<string> => {
      await client.listTools()
      const stream = client.experimental.tasks.callToolStream({ name: "build", arguments: { order: 1 } })
      const first = await stream.next()
      if (first.value?.type !== "taskCreated") throw new Error(JSON.stringify(first.value))
      return first.value.task.taskId
    }
    const settlements = async (count: number) => {
      const sent = () => governed.seen.filter(({ path }) => path.endsWith("/settle"))
      while (sent().length < count) await governed.client.flush(1_000)
      return sent().map(({ json }) => json.status)
    }
    return { ...governed, upstream, shops, begin, settlements }
  }

  it("is settled by the answers in its own session", async () => {
    const { begin, settlements, shops, url } = await world()
    const [one, two] = [await connectV1(url), await connectV1(url)]
    const tasks = [await begin(one), await begin(two)]
    // A session that does not have the task says nothing of it.
    assert.match(String(await two.experimental.tasks.getTask(tasks[0]!).catch((cause: unknown) => cause)), /not found/)
    await shops[0]!.finish(tasks[0]!, "no such order", "failed")
    await shops[1]!.finish(tasks[1]!, "built")
    assert.include(JSON.stringify(await two.experimental.tasks.getTaskResult(tasks[1]!, CallToolResultSchema)), "built")
    assert.strictEqual((await one.experimental.tasks.getTask(tasks[0]!)).status, "failed")
    assert.deepStrictEqual(await settlements(2), ["ok", "error"])
  })

  it("is cancelled in its client's session when the agent is halted", async () => {
    const { begin, halt, settlements, shops, upstream, url } = await world()
    const taskId = await begin(await connectV1(url))
    await halt()
    await until(() => shops[0]!.cancelled.includes(taskId))
    const { headers } = upstream.seen.find(({ body }) => body.includes("tasks/cancel"))!
    assert.strictEqual(headers["authorization"], "Bearer shop")
    assert.isString(headers["mcp-session-id"])
    assert.deepStrictEqual(await settlements(1), ["error"])
  })

  it("is cancelled by the method and the name that a server of revision 2026-07-28 routes by", async () => {
    const bodies: Array<{ readonly body: string; readonly headers: IncomingMessage["headers"] }> = []
    const task = { taskId: "täsk 1", status: "working", createdAt: "", lastUpdatedAt: "", ttlMs: null }
    const upstream = await listening(
      createServer((request, response) => {
        void textOf(request).then((body) => {
          bodies.push({ body, headers: request.headers })
          response.writeHead(200, { "content-type": "application/json" })
          const result = { resultType: "task", ...task }
          response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result }))
        })
      })
    )
    const { halt, url } = await proxied(`${upstream}/mcp`)
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("build") })
    const headers = { "content-type": "application/json", "mcp-method": "tools/call", "mcp-name": "build" }
    const answer = await fetch(url, { method: "POST", headers, body })
    assert.deepInclude(JSON.parse(await answer.text()).result, { taskId: "täsk 1" })
    await halt()
    await until(() => bodies.length === 2)
    const [, cancelled] = bodies
    assert.strictEqual(cancelled!.headers["mcp-method"], "tasks/cancel")
    const name = Buffer.from("täsk 1").toString("base64")
    assert.strictEqual(cancelled!.headers["mcp-name"], `=?base64?${name}?=`)
    assert.deepInclude(JSON.parse(cancelled!.body), { method: "tasks/cancel", params: { taskId: "täsk 1" } })
  })

  it("is settled by a notification in a stream of the server", async () => {
    const notification = {
      jsonrpc: "2.0",
      method: "notifications/tasks",
      params: { taskId: "t-1", status: "completed", result: { content: [] } }
    }
    const upstream = await listening(
      createServer((request, response) => {
        if (request.method === "GET") {
          response.writeHead(200, { "content-type": "text/event-stream" })
          return void response.end(`: hello\n\ndata: no message\n\ndata: ${JSON.stringify(notification)}\n\n`)
        }
        response.writeHead(200, { "content-type": "application/json" })
        const result = { resultType: "task", taskId: "t-1", status: "working" }
        response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }))
      })
    )
    const { client, said, seen, url } = await proxied(`${upstream}/mcp`)
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("build") })
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
    const streamed = await (await fetch(url, { headers: { accept: "text/event-stream" } })).text()
    assert.strictEqual(streamed, `: hello\n\ndata: ${JSON.stringify(notification)}\n\n`)
    assert.match(said.join(), /an event that is no message; it was dropped/)
    const settled = () => seen.filter(({ path }) => path.endsWith("/settle"))
    while (settled().length === 0) await client.flush(1_000)
    assert.strictEqual(settled()[0]!.json.status, "ok")
  })
})

describe.each(hostileMessages)("over HTTP, $name", ({ answer, bytes, sent }) => {
  it("reaches the server as it was judged, or not at all", async () => {
    const bodies: Array<string> = []
    const upstream = await listening(
      createServer((request, response) => {
        void textOf(request).then((body) => {
          bodies.push(body)
          response.writeHead(200, { "content-type": "application/json" })
          response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: {} }))
        })
      })
    )
    const { script, url } = await proxied(`${upstream}/mcp`)
    script.verdict = ({ action }) => (action === "refund" ? "deny" : "allow")
    const got = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from(bytes)
    })
    const { error, result } = JSON.parse(await got.text())
    assert.strictEqual(error?.code ?? (result.isError === true ? "denied" : null), answer)
    assert.deepStrictEqual(bodies, sent === null ? [] : [sent])
  })
})

describe("the proxy over HTTP", () => {
  const post = async (url: string, body: string, headers: { readonly [name: string]: string } = {}) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body
    })
    return { status: answer.status, text: await answer.text() }
  }
  const refund = (more: object = {}) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("refund", { amount: 5 }), ...more })

  it("refuses what it cannot judge, and the server never sees it", async () => {
    const upstream = await upstreamV2()
    const { url } = await proxied(upstream.url)
    const refused = [
      await post(url, "{"),
      await post(url, `[${refund()}]`),
      await post(url, refund({ jsonrpc: "1.0" })),
      await post(url, refund(), { "mcp-method": "ping" }),
      await post(url, refund(), { "mcp-method": "tools/call", "mcp-name": "lookup" }),
      await post(url, refund(), { "mcp-name": `=?base64?${Buffer.from("lookup").toString("base64")}?=` })
    ]
    assert.deepStrictEqual(
      refused.map(({ status }) => status),
      [400, 400, 400, 400, 400, 400]
    )
    assert.strictEqual((await post(url, refund(), { "content-type": "text/plain" })).status, 415)
    assert.strictEqual((await post(`${url}/other`, refund())).status, 404)
    assert.strictEqual((await fetch(url, { method: "PUT" })).status, 405)
    // A call that asks for no answer is not one.
    assert.strictEqual((await post(url, JSON.stringify({ jsonrpc: "2.0", method: "tools/call" }))).status, 202)
    assert.lengthOf(upstream.seen, 0)
  })

  it("refuses a header that repeats no argument, and passes one that does", async () => {
    const upstream = await upstreamV2()
    const { url } = await proxied(upstream.url)
    const status = async (value: string) => (await post(url, refund(), { "mcp-param-amount": value })).status
    assert.strictEqual(await status("900"), 400)
    assert.strictEqual(await status(`=?base64?${Buffer.from("900").toString("base64")}?=`), 400)
    assert.lengthOf(upstream.seen, 0)
    await status("5")
    await status(`=?base64?${Buffer.from("5").toString("base64")}?=`)
    assert.lengthOf(upstream.seen, 2)
  })

  it("refuses pages of other sites and hosts", async () => {
    const upstream = await upstreamV2()
    const { url } = await proxied(upstream.url)
    assert.strictEqual((await post(url, refund(), { origin: "https://evil.test" })).status, 403)
    assert.strictEqual(await statusWithHost(url, "evil.test"), 403)
    assert.strictEqual(await statusWithHost(url, "localhost:1"), 404)
    assert.lengthOf(upstream.seen, 0)
  })

  it("passes the server's refusals on, follows no redirect, and reports a server that is away", async () => {
    let answer: (response: ServerResponse) => void = () => undefined
    const upstream = await listening(createServer((_, response) => answer(response)))
    const { url, witnessed } = await proxied(`${upstream}/mcp`)
    answer = (response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end("who?")
    assert.deepStrictEqual(await post(url, refund()), { status: 401, text: "who?" })
    answer = (response) => response.writeHead(307, { location: "http://evil.test/" }).end()
    assert.strictEqual((await post(url, refund())).status, 502)
    answer = (response) => response.destroy()
    assert.strictEqual((await post(url, refund())).status, 502)
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n')
    }
    const ended = await post(url, refund())
    assert.include(ended.text, "notifications/progress")
    assert.include(ended.text, "The tool server gave no answer.")
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error", "error", "error", "error"]
    )
  })

  it("ends the call of a client that has gone, which is witnessed as failed", async () => {
    const closed: Array<string> = []
    const arrived: Array<string> = []
    const upstream = await listening(
      createServer((request, response) => {
        arrived.push(request.url!)
        response.on("close", () => closed.push(request.url!))
      })
    )
    const { url, witnessed } = await proxied(`${upstream}/mcp`)
    const ending = new AbortController()
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
    const sent = fetch(url, { method: "POST", headers, body: refund(), signal: ending.signal }).catch(() => "gone")
    await until(() => arrived.length === 1)
    ending.abort()
    assert.strictEqual(await sent, "gone")
    await until(() => closed.length === 1)
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error"]
    )
  })

  it("takes no message that is too long, from either side", async () => {
    const tooLong = "x".repeat(65 * 1_048_576)
    const upstream = await listening(
      createServer((_, response) => response.writeHead(200, { "content-type": "application/json" }).end(tooLong))
    )
    const { url, witnessed } = await proxied(`${upstream}/mcp`)
    assert.strictEqual((await post(url, tooLong)).status, 413)
    const answered = await post(url, refund())
    assert.strictEqual(answered.status, 502)
    assert.include(answered.text, "The tool server gave no answer.")
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error"]
    )
  })

  it("refuses a request over the limit of waiting requests, and accepts one after an answer", async () => {
    const upstream = await upstreamV2()
    const { resolve, script, url, waits } = await proxied(upstream.url, limitWaiting(2, 1_000))
    script.verdict = () => "require_review"
    const held = [post(url, refund()), post(url, refund({ id: 2, params: call("refund", { amount: 6 }) }))]
    await until(() => waits() === 2)
    const refused = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: refund({ id: 3 })
    })
    assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
    assert.strictEqual(JSON.parse(await refused.text()).error.code, -32_005)
    resolve("rev_1", "reject")
    assert.include((await held[0]!).text, "ended: reject")
    const long = await post(url, refund({ params: call("refund", { text: "x".repeat(1_000) }) }))
    assert.deepStrictEqual([long.status, JSON.parse(long.text).error.code], [503, -32_005])
    script.verdict = () => "deny"
    assert.include((await post(url, refund())).text, "deny by rule-deny")
    resolve("rev_2", "reject")
    await held[1]
    assert.lengthOf(upstream.seen, 0)
  })

  it("answers what is nested too deeply to be written again", async () => {
    const upstream = await upstreamV2()
    const { url } = await proxied(upstream.url)
    const deep = "[".repeat(50_000) + "]".repeat(50_000)
    const ping = await post(url, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}`)
    assert.strictEqual(ping.status, 502)
    const called = await post(url, refund({ params: call("refund", { a: [] }) }).replace("[]", deep))
    assert.include(called.text, "The call did not run")
    assert.lengthOf(upstream.seen, 0)
  })

  it("keeps the digits of what the server answers", async () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"id":12345678901234567890}}}'
    const upstream = await listening(
      createServer((_, response) => response.writeHead(200, { "content-type": "application/json" }).end(text))
    )
    const { url } = await proxied(`${upstream}/mcp`)
    assert.deepStrictEqual(await post(url, refund()), { status: 200, text })
  })

  it("is a command that says where it listens", async () => {
    const service = await serveService()
    endings.push(service.close)
    const upstream = await upstreamV2()
    const main = fileURLToPath(new URL("main.ts", import.meta.url))
    const args = [main, "--agent", "bot", "--upstream", upstream.url, "--listen", "127.0.0.1:0"]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, FLYBALL_URL: service.url, FLYBALL_KEY: "k", NODE_NO_WARNINGS: "1" }
    })
    let said = ""
    child.stderr.on("data", (piece: Buffer) => (said += piece.toString()))
    await until(() => said.includes("listens at "))
    const [, url] = /listens at (\S+)/.exec(said)!
    service.script.verdict = () => "deny"
    assert.include((await post(url!, refund())).text, "deny by rule-deny")
    child.kill("SIGTERM")
    assert.deepStrictEqual(await once(child, "exit"), [0, null])
    assert.deepStrictEqual(
      service.decisions().map(({ status }) => status),
      ["denied"]
    )
  })
})

/** The status of a GET of another path with this Host header, which `fetch` does not let one choose. */
const statusWithHost = async (url: string, host: string): Promise<number> => {
  const { hostname, port } = new URL(url)
  const sent = request({ hostname, port, path: "/other", headers: { host } })
  sent.end()
  const [response] = (await once(sent, "response")) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}
