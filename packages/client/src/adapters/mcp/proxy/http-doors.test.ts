import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import { governedAgent } from "../../testing/governed-agent.ts"
import { governCalls } from "../calls.ts"
import { passesProxy } from "../json-rpc.ts"
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** A proxy in front of a server that answers every request with a result, as this media type. */
const proxied = async (type = "application/json", pass: ReadonlyArray<string> = []) => {
  const governed = await governedAgent()
  endings.push(() => governed.client.close())
  const reached: Array<string> = []
  const upstream = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request) text += String(piece)
    const { id, method } = JSON.parse(text)
    reached.push(method)
    if (id === undefined) return response.writeHead(202).end()
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })
    response.writeHead(200, { "content-type": type })
    response.end(type.toLowerCase().startsWith("text/") ? `data: ${answer}\n\n` : answer)
  })
  const calls = governCalls(governed.agent, {})
  const session = { calls: () => Promise.resolve(calls), close: () => Promise.resolve() }
  const options = { upstream: await listening(upstream), session, passes: passesProxy(pass), log: () => undefined }
  const url = await listening(governHttp(options))
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const sent = { method: "POST", body, headers: { "content-type": "application/json", ...headers } }
    const answer = await fetch(url, sent)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return { ...governed, post, reached, url }
}

const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })

describe("the proxy over HTTP", () => {
  it.each(["Application/JSON; Charset=UTF-8", "TEXT/Event-Stream"])(
    "reads media types in any case: %s",
    async (type) => {
      const { post, witnessed } = await proxied(type)
      const { text } = await post(message("tools/call", { name: "lookup" }), { "content-type": "Application/Json" })
      assert.include(text, '"result":{"content":[]}')
      assert.deepStrictEqual(
        (await witnessed()).map(({ status }) => status),
        ["ok"]
      )
      assert.strictEqual((await post("{}", { "content-type": "application/json-seq" })).status, 415)
    }
  )

  it("refuses methods that it does not know, unless its operator lets them pass, and records that", async () => {
    const { post, reached, witnessed } = await proxied("application/json", ["shop/list"])
    assert.include((await post(message("tools/execute", { name: "refund" }))).text, '"code":-32601')
    assert.include((await post(message("shop/list"))).text, '"result"')
    const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/run" })
    assert.strictEqual((await post(notification)).status, 202)
    assert.deepStrictEqual(reached, ["shop/list"])
    assert.deepStrictEqual(
      (await witnessed()).map(({ action, kind, status }) => [action, kind, status]),
      [
        ["tools/execute", "other", "denied"],
        ["notifications/tools/run", "other", "denied"]
      ]
    )
  })

  it("records a call that it cannot judge, and refuses numbers that it cannot carry", async () => {
    const { post, reached, witnessed } = await proxied()
    const inexact = message("resources/read", { at: 0 }).replace('"at":0', '"at":0.1000000000000000055')
    for (const body of [message("tools/call", { name: "refund", arguments: [] }), inexact])
      assert.include((await post(body)).text, '"code":-32602')
    assert.deepStrictEqual(reached, [])
    const recorded = (await witnessed()).map(({ action, args, status }) => [action, status, args])
    assert.deepStrictEqual(recorded, [
      ["refund", "denied", []],
      ["resources/read", "denied", { withheld: "inexact_number" }]
    ])
  })

  it("answers a page of an allowed origin, and no other", async () => {
    const { post, url } = await proxied()
    const wanted = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" }
    const preflight = (origin: string) => fetch(url, { method: "OPTIONS", headers: { origin, ...wanted } })
    const { headers, status } = await preflight("http://localhost:5173")
    assert.deepStrictEqual(
      [status, headers.get("access-control-allow-origin"), headers.get("access-control-allow-headers")],
      [204, "http://localhost:5173", "content-type"]
    )
    assert.strictEqual((await preflight("https://shop.test")).status, 403)
    assert.strictEqual((await fetch(url, { method: "OPTIONS" })).status, 405)
    const answered = await post(message("ping"), { origin: "http://localhost:5173" })
    assert.strictEqual(answered.headers.get("access-control-allow-origin"), "http://localhost:5173")
    assert.include(answered.headers.get("access-control-expose-headers"), "mcp-session-id")
  })
})
