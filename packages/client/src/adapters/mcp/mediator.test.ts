import { afterEach, assert, describe, it } from "vitest"
import { governedAgent, until } from "../testing/governed-agent.ts"
import type { JsonRpcResponse } from "./json-rpc.ts"
import { mediate } from "./mediator.ts"
import { playedConnection } from "./testing/played-connection.ts"

let close: () => Promise<unknown> = () => Promise.resolve()
afterEach(() => close())

/** A connection whose two ends a test plays. */
const world = async () => {
  const governed = await governedAgent()
  close = () => governed.client.close()
  const { atClient, atServer, mediator } = playedConnection(governed.agent)
  const call = (id: number | string, name = "refund") => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: {} }
  })
  const answer = (id: number | string) => ({ jsonrpc: "2.0", id, result: { content: [] } })
  return { ...governed, mediator, atServer, atClient, call, answer }
}

describe("a mediator", () => {
  it("sends a call once, answers it once, and drops what comes after", async () => {
    const { answer, atClient, atServer, call, mediator } = await world()
    await mediator.fromClient(call(1))
    assert.lengthOf(atServer, 1)
    assert.isFalse(mediator.fromServer(answer(1)))
    await until(() => atClient.length === 1)
    assert.deepStrictEqual<unknown>(atClient, [answer(1)])
    assert.isFalse(mediator.fromServer(answer(1)))
    assert.isFalse(mediator.fromServer(answer("never sent")))
    assert.isTrue(mediator.fromServer({ jsonrpc: "2.0", id: null, error: { code: -32_700, message: "no" } }))
  })

  it("passes one answer to each request that is no call, and none after it was cancelled", async () => {
    const { answer, mediator } = await world()
    await mediator.fromClient({ jsonrpc: "2.0", id: 1, method: "ping" })
    assert.deepStrictEqual([mediator.fromServer(answer(1)), mediator.fromServer(answer(1))], [true, false])
    await mediator.fromClient({ jsonrpc: "2.0", id: 2, method: "ping" })
    await mediator.fromClient({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } })
    assert.isFalse(mediator.fromServer(answer(2)))
  })

  it("refuses a call that has the id of a request without an answer", async () => {
    const { atClient, atServer, call, mediator } = await world()
    await mediator.fromClient({ jsonrpc: "2.0", id: 1, method: "tools/list" })
    await mediator.fromClient(call(1))
    assert.deepStrictEqual(
      atClient.map(({ error }) => error?.code),
      [-32_600]
    )
    assert.lengthOf(atServer, 1)
  })

  it("takes no answer to a call that the server was never sent", async () => {
    const { answer, atClient, atServer, call, mediator, resolve, script, waits } = await world()
    script.verdict = () => "require_review"
    void mediator.fromClient(call(1))
    await until(() => waits() === 1)
    assert.isFalse(mediator.fromServer(answer(1)))
    resolve("rev_1", "reject")
    await until(() => atClient.length === 1)
    assert.isTrue(atClient[0]!.result!["isError"])
    assert.lengthOf(atServer, 0)
  })

  it("refuses a second request of an id that has no answer yet; the number 1 and the text 1 are two", async () => {
    const { answer, atClient, atServer, call, mediator } = await world()
    await mediator.fromClient(call(1))
    await mediator.fromClient(call(1, "lookup"))
    await mediator.fromClient({ jsonrpc: "2.0", id: 1, method: "ping" })
    assert.deepStrictEqual(
      atClient.map(({ error }) => error?.code),
      [-32_600, -32_600]
    )
    await mediator.fromClient(call("1"))
    assert.lengthOf(atServer, 2)
    mediator.fromServer(answer("1"))
    await until(() => atClient.length === 3)
    assert.strictEqual(atClient[2]!.id, "1")
  })

  it("passes no call that asks for no answer", async () => {
    const { atServer, mediator } = await world()
    await mediator.fromClient({ jsonrpc: "2.0", method: "tools/call", params: { name: "refund" } })
    await mediator.fromClient({ jsonrpc: "2.0", method: "notifications/initialized" })
    assert.deepStrictEqual(atServer, [{ jsonrpc: "2.0", method: "notifications/initialized" }])
  })

  it("passes the cancellation of a call that runs, and none of one that the server never saw", async () => {
    const { answer, atClient, atServer, call, mediator, script, waits, witnessed } = await world()
    const cancel = (requestId: number) => ({
      jsonrpc: "2.0" as const,
      method: "notifications/cancelled",
      params: { requestId }
    })
    await mediator.fromClient(call(1))
    script.verdict = () => "require_review"
    void mediator.fromClient(call(2))
    await until(() => waits() === 1)
    await mediator.fromClient(cancel(2))
    await mediator.fromClient(cancel(1))
    await until(() => waits() === 0)
    assert.deepStrictEqual<unknown>(atServer, [call(1), cancel(1)])
    mediator.fromServer(answer(1))
    await mediator.end("over")
    assert.isTrue(
      atClient.every(({ id }) => id !== 1),
      "nobody waits for an answer to a cancelled call"
    )
    assert.sameMembers(
      (await witnessed()).map(({ status }) => status),
      ["error", "denied"]
    )
  })

  it("witnesses what ran as failed when the connection ends, and starts nothing after it", async () => {
    const { atServer, call, mediator, witnessed } = await world()
    await mediator.fromClient(call(1))
    await mediator.end("over")
    await mediator.fromClient(call(2))
    assert.lengthOf(atServer, 1)
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error", "error"]
    )
  })

  it("denies each call while there is no agent", async () => {
    const { atClient, atServer, call } = await world()
    const mediator = mediate({
      calls: () => Promise.reject(new Error("not registered")),
      toServer: async (message) => void atServer.push(message),
      toClient: (message) => void atClient.push(message as JsonRpcResponse)
    })
    await mediator.fromClient(call(1))
    assert.include(JSON.stringify(atClient), "The call did not run: not registered")
    assert.lengthOf(atServer, 0)
  })
})
