/** Which methods a path takes, and what HEAD and OPTIONS are answered. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { assert, describe, it } from "vitest"
import { givenServers } from "./testing/given-servers.ts"

const { opened } = givenServers()

describe("methods", () => {
  it("that a path does not take are 405 with Allow", async () => {
    const { admin, send } = await opened()
    const got = await send("DELETE", "/api/v1/agents", { token: admin })
    assert.deepStrictEqual(
      [got.status, got.json.code, got.headers.get("allow")],
      [405, "method_not_allowed", "GET, HEAD, OPTIONS, POST"]
    )
    assert.strictEqual((await send("POST", "/status")).headers.get("allow"), "GET, HEAD, OPTIONS")
    assert.strictEqual((await send("HEAD", "/api/v1/chain/erasures", { token: admin })).status, 405)
  })

  it("HEAD answers as GET does, without the body", async () => {
    const { admin, send } = await opened()
    const get = await send("GET", "/api/v1/agents", { token: admin })
    const head = await send("HEAD", "/api/v1/agents", { token: admin })
    assert.deepStrictEqual(
      [head.status, head.text, head.headers.get("content-length")],
      [200, "", get.headers.get("content-length")]
    )
    assert.strictEqual((await send("HEAD", "/api/v1/agents")).status, 401)
    assert.strictEqual((await send("HEAD", "/api/v1/agents/x", { token: admin })).text, "")
  })

  it("OPTIONS lists the methods of a path", async () => {
    const { send } = await opened()
    const got = await send("OPTIONS", "/api/v1/agents/x/decisions")
    assert.deepStrictEqual([got.status, got.headers.get("allow")], [204, "GET, HEAD, OPTIONS, POST"])
    assert.strictEqual((await send("OPTIONS", "/nothing")).status, 404)
  })
})
