/**
 * Meaning of null in a body: left out at creation, cleared in a change, content where any JSON is; and the description
 * says so. Spec: api.md, Conventions.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { endpoints } from "@flyball/contract/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { goodRequests } from "./http-requests.ts"
import { openWorld, type World } from "./http-world.ts"

let world: World
const admin = (method: string, path: string, json?: unknown) =>
  world.send(method, path, { token: world.admin, ...(json === undefined ? {} : { json }) })
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const filled = {
  description: "d",
  purpose: "p",
  agent_version: "1",
  framework: "f",
  model_ids: ["m"],
  risk_class: "high",
  labels: { a: 1 },
  blast_radius: { reversible: true },
  recert_due_at: "2100-01-01T00:00:00.000Z"
}
const empty = {
  description: null,
  purpose: null,
  agent_version: null,
  framework: null,
  model_ids: [],
  risk_class: "unclassified",
  labels: {},
  blast_radius: {},
  recert_due_at: null
}
const nulls = Object.fromEntries(Object.keys(filled).map((member) => [member, null]))

describe("null in a body", () => {
  it("is as good as left out where an agent is made", async () => {
    const { json, status } = await admin("POST", "/api/v1/agents", {
      name: "made-of-nulls",
      org_unit: "support",
      ...nulls,
      autonomy_tier: null,
      owner_name: null,
      owner_email: null
    })
    assert.strictEqual(status, 201)
    assert.deepInclude(json, { ...empty, autonomy_tier: "L0" })
  })

  it("empties what may be empty where an agent or a model is changed, and what is left out stays", async () => {
    const { json: agent } = await admin("POST", "/api/v1/agents", {
      name: "emptied",
      org_unit: "support",
      autonomy_tier: "L1",
      ...filled
    })
    assert.deepInclude((await admin("PATCH", `/api/v1/agents/${agent.id}`, { if_version: null })).json, filled)
    assert.deepInclude((await admin("PATCH", `/api/v1/agents/${agent.id}`, { ...nulls, autonomy_tier: null })).json, {
      ...empty,
      autonomy_tier: "L1"
    })
    const { json: model } = await admin("POST", "/api/v1/models", {
      provider: "p",
      name: "n",
      hosting: "self_hosted",
      price: { input_micro_usd_per_mtok: 1 }
    })
    assert.deepInclude((await admin("PATCH", `/api/v1/models/${model.id}`, {})).json, { hosting: "self_hosted" })
    assert.deepInclude(
      (await admin("PATCH", `/api/v1/models/${model.id}`, { hosting: null, price: null, status: null })).json,
      {
        hosting: null,
        status: "allowed",
        price: { input_micro_usd_per_mtok: null, output_micro_usd_per_mtok: null }
      }
    )
  })

  it("is content in what an agent captures, and another than none", async () => {
    const { json: agent } = await admin("POST", "/api/v1/agents", { name: "capturing", org_unit: "support" })
    const witness = (ref: string, more: object) =>
      admin("POST", `/api/v1/agents/${agent.id}/decisions`, { client_ref: ref, action: "act", ...more })
    for (const member of ["args", "result", "labels"]) {
      assert.strictEqual((await witness(member, { [member]: null, model: null, step: null })).status, 201)
      assert.isTrue((await witness(member, { [member]: null })).json.receipts[0].duplicate)
      assert.strictEqual((await witness(member, {})).json.code, "client_ref_reused")
    }
    const {
      json: {
        receipts: [{ decision_id }]
      }
    } = await witness("settled", {})
    assert.strictEqual(
      (await admin("POST", `/api/v1/decisions/${decision_id}/settle`, { status: "ok", result: null })).status,
      201
    )
    assert.strictEqual(
      (await admin("POST", `/api/v1/decisions/${decision_id}/settle`, { status: "ok" })).json.code,
      "decision_already_settled"
    )
  })

  it("is no body where none is needed: for every such endpoint, as if nothing was sent", async () => {
    const good = await goodRequests(world)
    const bodiless = endpoints.filter(({ body, method }) => method !== "GET" && (body === null || body.optional))
    assert.includeMembers(
      bodiless.map(({ id }) => id),
      ["agents.suspend", "agents.activate", "bound.publish"]
    )
    for (const endpoint of bodiless) {
      const token =
        endpoint.id === "bound.publish" || endpoint.id === "bound.grant_waiver"
          ? await world.token("governor", "*", "another governor")
          : world.admin
      const { path } = await good(endpoint)
      const got = await world.send(endpoint.method, path, { token, body: "null" })
      assert.strictEqual(got.status, endpoint.success.status, `${endpoint.id}: ${got.text}`)
    }
  })

  it("in place of a body of suspend suspends without a reason, and once more changes nothing", async () => {
    const { json: agent } = await admin("POST", "/api/v1/agents", { name: "suspended by null", org_unit: "support" })
    const suspend = () => world.send("POST", `/api/v1/agents/${agent.id}/suspend`, { token: world.admin, body: "null" })
    const { json: suspended } = await suspend()
    assert.deepInclude(suspended, { status: "suspended", suspended_reason: "manual" })
    const before = await world.size()
    const again = await suspend()
    assert.deepStrictEqual([again.status, again.json, await world.size()], [200, suspended, before])
  })

  it("is described so", async () => {
    const { json } = await world.send("GET", "/openapi.json")
    assert.include(
      json.info.description,
      "`labels` and `signals` hold any JSON, of which null is one: it is kept, and another content than none"
    )
    assert.include(
      json.info.description,
      "in the body of a PATCH what is left out stays as it is, and null empties what may be empty"
    )
  })
})
