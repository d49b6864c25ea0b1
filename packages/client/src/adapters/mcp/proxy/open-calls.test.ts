import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import { manualClock } from "../../../testing/manual-clock.ts"
import { governedAgent, until } from "../../testing/governed-agent.ts"
import { governCalls } from "../calls.ts"
import { governHttp } from "./http.ts"
import { OPEN_CALL_MS } from "./open-calls.ts"

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

const finished = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"late":1e400}}`

/** A server that primes each stream, closes it, and answers on a later one. `before`: what that one says first. */
const postponing = (before = "") =>
  createServer(async (request, response) => {
    for await (const _ of request) void _
    response.writeHead(200, { "content-type": "text/event-stream" })
    if (request.method === "POST") return response.end("id: e1\nretry: 200\ndata: \n\n")
    response.end(request.headers["last-event-id"] === "e1" ? before : `id: e3\ndata: ${finished(1)}\n\n`)
  })

const proxied = async (before = "id: e2\ndata: \n\n") => {
  const governed = await governedAgent()
  endings.push(() => governed.client.close())
  const calls = governCalls(governed.agent, {})
  const session = { calls: () => Promise.resolve(calls), close: () => Promise.resolve() }
  const clock = manualClock()
  const upstream = await listening(postponing(before))
  const url = await listening(governHttp({ upstream, session, clock, log: () => undefined }))
  const post = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    return (await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } })).text()
  }
  const resume = async (lastEventId: string, more: Record<string, string> = {}) =>
    (await fetch(url, { headers: { "last-event-id": lastEventId, ...more } })).text()
  const outcomes = async () => {
    await governed.witnessed()
    return governed.seen.flatMap(({ json, path }): ReadonlyArray<string> =>
      path.endsWith("/settle")
        ? [json.status]
        : path.endsWith("/decisions")
          ? json.decisions.map((one: { status: string }) => one.status)
          : []
    )
  }
  return { ...governed, clock, post, resume, outcomes }
}

const call = { name: "refund", arguments: {} }

describe("a call whose stream ended with an event id", () => {
  it("is settled by its answer on a later stream, which goes out as it came", async () => {
    const { outcomes, post, resume } = await proxied()
    assert.strictEqual(await post("tools/call", call), "id: e1\nretry: 200\ndata: \n\n")
    assert.deepStrictEqual(await outcomes(), ["intended"])
    assert.strictEqual(await resume("e1"), "id: e2\ndata: \n\n")
    // The event of the second stream names the call too.
    assert.strictEqual(await resume("e2"), `id: e3\ndata: ${finished(1)}\n\n`)
    assert.deepStrictEqual((await outcomes()).slice(-1), ["ok"])
  })

  it("is settled as unknown once its time is over, counted from the last stream", async () => {
    const { clock, outcomes, post, resume } = await proxied()
    await post("tools/call", call)
    await clock.advance(OPEN_CALL_MS - 1)
    await resume("e1")
    await clock.advance(OPEN_CALL_MS - 1)
    assert.deepStrictEqual(await outcomes(), ["intended"])
    await clock.advance(1)
    await until(() => true)
    assert.deepStrictEqual((await outcomes()).slice(-1), ["unknown"])
  })

  it("is answered as halted where the agent was halted in between", async () => {
    const { halt, outcomes, post, resume } = await proxied()
    await post("tools/call", call)
    await halt()
    await resume("e1")
    assert.match(await resume("e2"), /^event: message\nid: e3\ndata: .*was halted while the action refund ran/)
    assert.deepStrictEqual((await outcomes()).slice(-1), ["error"])
  })

  it("is not settled by what another client resumes", async () => {
    const { outcomes, post, resume } = await proxied()
    await post("tools/call", call)
    await resume("e2", { "mcp-session-id": "another" })
    assert.deepStrictEqual(await outcomes(), ["intended"])
  })

  it("has its list of tools witnessed too", async () => {
    const { post, resume, witnessed } = await proxied(`id: e2\ndata: ${finished(1)}\n\n`)
    await post("tools/list", {})
    assert.include(await resume("e1"), finished(1))
    const lists = (await witnessed()).filter(({ kind }) => kind === "tool_list")
    assert.deepStrictEqual(
      lists.map(({ result: { bytes, withheld } }) => [withheld, bytes]),
      [["inexact_number", '{"content":[],"late":1e400}'.length]]
    )
  })
})
