/** Agents that work in a browser as callers of `/v1` see them: registry, draft, configuration, status. */
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterEach, assert, beforeEach, it } from "vitest"
import { platform } from "../index.ts"

let governor: Governor
let api: HttpApi
let key: string
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
  api = openHttp(governor)
  key = await keyOf("ops")
})
afterEach(() => governor.close())

const keyOf = async (org_unit: string) =>
  (await governor.platformKeys.mint({ name: "k", org_unit, plan: "enterprise", scopes: ["*"] })).key
const send = async (
  path: string,
  body?: object,
  { as = key, headers = {} }: { as?: string; headers?: object } = {}
) => {
  const response = await api.fetch(
    new Request(`http://host.example/v1/documents/agents${path}`, {
      headers: { authorization: `Bearer ${as}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
  )
  return { status: response.status, json: JSON.parse(await response.text()) as any }
}
const wanted = {
  name: "clerk",
  start_url: "https://shop.example.com/orders",
  allowed_domains: ["example.com"],
  goals: ["Read."]
}

it("registers a draft at L1 with an envelope that leaves nothing open, and says when its proxy came", async () => {
  const { json, status } = await send("", wanted, { headers: { "idempotency-key": "one" } })
  assert.strictEqual(status, 201, JSON.stringify(json))
  assert.deepStrictEqual((await send("", wanted, { headers: { "idempotency-key": "one" } })).json, json)
  const agent = await governor.agents.get(json.id)
  assert.deepInclude(agent, { name: "clerk", status: "draft", autonomy_tier: "L1", org_unit: "ops" })
  const { draft } = await governor.envelopes.get(json.envelope_id)
  assert.strictEqual((draft as any).envelope.rules[0].when[2].under, "example.com")
  const { findings } = await governor.envelopes.lint(json.envelope_id)
  assert.deepStrictEqual(
    findings.map(({ code }) => code),
    ["W201"],
    "other addresses are left to the default on purpose"
  )
  const [server] = Object.values(json.mcp_configuration.mcpServers) as ReadonlyArray<any>
  assert.includeMembers(server.args, ["flyball-mcp-proxy", "clerk", "@playwright/mcp@0.0.83"])
  assert.strictEqual((await send(`/${json.id}`)).json.status, "awaiting_runner")
  const tools = [{ name: "browser_navigate", inputSchema: { type: "object" } }]
  await governor.mcp.upload({ agent_id: json.id, tool_server: "playwright", manifest: { tools } })
  assert.strictEqual((await send(`/${json.id}`)).json.status, "connected")
  assert.strictEqual((await send(`/${json.id}`, undefined, { as: await keyOf("sales") })).status, 404)
})

it("refuses a taken name and wrong input, and registers nothing then", async () => {
  await send("", wanted)
  const taken = await send("", wanted)
  assert.deepStrictEqual([taken.status, taken.json.error.code], [409, "agent_name_taken"])
  const wrong: ReadonlyArray<readonly [object, string]> = [
    [{ start_url: "http://example.com" }, "start_url"],
    [{ start_url: "https://example.com.evil.org" }, "start_url"],
    [{ start_url: "not an address" }, "start_url"],
    [{ allowed_domains: ["Example.com"] }, "allowed_domains[0]"],
    [{ allowed_domains: ["*.example.com"] }, "allowed_domains[0]"],
    [{ allowed_domains: [] }, "allowed_domains"],
    [{ goals: Array.from({ length: 20 }, () => "x".repeat(1_000)) }, "goals"]
  ]
  for (const [more, param] of wrong) {
    const { json, status } = await send("", { ...wanted, name: "other", ...more })
    assert.deepStrictEqual([status, json.error.code, json.error.param], [400, "invalid_request", param])
  }
  assert.lengthOf(await governor.agents.list(), 1)
})
