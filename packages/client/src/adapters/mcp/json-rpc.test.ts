import { assert, describe, it } from "vitest"
import { readCall } from "./calls.ts"
import { type JsonRpcRequest, readMessage } from "./json-rpc.ts"

const reasonOf = (value: unknown): string => {
  const read = readMessage(value)
  return read.ok ? "ok" : read.reason
}

describe("a message", () => {
  it("loses the members that JSON-RPC does not have", () => {
    const read = readMessage({
      jsonrpc: "2.0",
      id: 1,
      method: "ping",
      Method: "tools/call",
      Params: { name: "refund" }
    })
    assert.deepStrictEqual(read, { ok: true, message: { jsonrpc: "2.0", id: 1, method: "ping" } })
  })

  it("may be a request, a notification, a result or an error", () => {
    for (const value of [
      { jsonrpc: "2.0", id: "a", method: "ping", params: {} },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "no" } }
    ])
      assert.deepStrictEqual<unknown>(readMessage(value), { ok: true, message: value })
  })

  it("is refused where it is anything else", () => {
    assert.strictEqual(reasonOf([]), "no JSON object")
    assert.strictEqual(reasonOf(null), "no JSON object")
    assert.strictEqual(reasonOf({ id: 1, method: "ping" }), 'jsonrpc is not "2.0"')
    assert.strictEqual(reasonOf({ jsonrpc: "2.0", id: 1, method: 5 }), "method is not a text")
    assert.strictEqual(reasonOf({ jsonrpc: "2.0", id: 1, method: "ping", params: [] }), "params is no object")
    assert.match(reasonOf({ jsonrpc: "2.0", id: null, method: "tools/call" }), /^id is neither/)
    assert.match(reasonOf({ jsonrpc: "2.0", id: 2 ** 53, method: "tools/call" }), /^id is neither/)
    assert.strictEqual(reasonOf({ jsonrpc: "2.0", id: 1, method: "ping", result: {} }), "a request has no result")
    assert.strictEqual(reasonOf({ jsonrpc: "2.0", id: 1 }), "neither a request nor an answer")
  })
})

describe("a call", () => {
  const call = (params: object | undefined) =>
    readCall({ jsonrpc: "2.0", id: 1, method: "tools/call", params } as JsonRpcRequest)

  it("is judged by its name and arguments; what a server or a trace adds is no part of it", () => {
    const expected = { ok: true, name: "refund", args: { amount: 5 } }
    assert.deepStrictEqual(call({ name: "refund", arguments: { amount: 5 } }) as unknown, expected)
    const more = { requestState: "approved", _meta: { progressToken: 1 } }
    assert.deepStrictEqual(call({ name: "refund", arguments: { amount: 5 }, ...more }) as unknown, expected)
    assert.deepStrictEqual(call({ name: "lookup" }) as unknown, { ok: true, name: "lookup", args: {} })
  })

  it("is judged by everything else that is sent with it, beside its arguments", () => {
    const params = { name: "refund", arguments: { amount: 5 }, inputResponses: { sure: true }, later: 1 }
    assert.deepStrictEqual(call(params) as unknown, {
      ok: true,
      name: "refund",
      args: { amount: 5, "mcp:params": { inputResponses: { sure: true }, later: 1 } }
    })
  })

  it("is refused where it could be read in two ways", () => {
    for (const params of [
      undefined,
      {},
      { name: 5 },
      { name: "" },
      { name: "refund", arguments: [900] },
      { name: "refund", arguments: null },
      { name: "lookup", Name: "refund" },
      { name: "refund", Arguments: { amount: 900 } },
      { name: "refund", arguments: { amount: 2 ** 53 } },
      { name: "refund", arguments: { "mcp:params": 1 }, task: {} }
    ])
      assert.isFalse(call(params).ok, JSON.stringify(params))
  })
})
