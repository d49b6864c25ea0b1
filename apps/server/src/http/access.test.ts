/** Every route by every kind of caller, against a table written from the specification, not from the code. Spec: api.md, "Who may call". */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { decode } from "@flyball/contract"
import { endpoints } from "@flyball/contract/http"
import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { devIssuer } from "../dev-issuer.ts"
import { goodRequests } from "./http-requests.ts"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"

/** Callers whose token opens something, in the order of the table's columns. */
const callers = ["key", "otherKey", "auditor", "reviewer", "operator", "governor", "admin", "unitAuditor", "otherAdmin", "otherReviewer", "otherOperator", "otherGovernor"] as const
type Caller = (typeof callers)[number]

/**
 * Columns: key of the agent's org unit, key of another unit, the five roles with org unit *, an auditor of the agent's unit; an admin, a reviewer, an operator
 * and a governor of another unit.
 * A 403 of a key is `key_not_allowed`, of a person `forbidden`.
 */
const table: { readonly [id: string]: ReadonlyArray<number> } = {
  "system.healthz": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "system.status": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "system.me": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "agents.create": [201, 201, 403, 403, 403, 403, 201, 403, 201, 403, 403, 403],
  "agents.list": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "agents.get": [200, 404, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "system.meta": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "models.list": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "models.create": [403, 403, 403, 403, 403, 201, 201, 403, 201, 403, 403, 201],
  "models.update": [403, 403, 403, 403, 403, 200, 200, 403, 403, 403, 403, 403],
  "agents.add_provenance": [403, 403, 403, 403, 403, 201, 201, 403, 404, 403, 403, 404],
  "agents.provenance": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "agents.orphans": [403, 403, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "agents.update": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.activate": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.suspend": [403, 403, 403, 403, 200, 200, 200, 403, 404, 403, 404, 404],
  "agents.decommission": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.recertify": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.transfer_ownership": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.disown": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "agents.attach_identity": [201, 404, 403, 403, 403, 403, 201, 403, 404, 403, 403, 403],
  "decisions.witness": [201, 404, 403, 403, 403, 403, 201, 403, 404, 403, 403, 403],
  "decisions.list": [200, 404, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "decisions.settle": [201, 404, 403, 403, 403, 403, 201, 403, 404, 403, 403, 403],
  "decisions.gap": [201, 404, 403, 403, 403, 403, 201, 403, 404, 403, 403, 403],
  "bound.create_envelope": [403, 403, 403, 403, 403, 201, 201, 403, 404, 403, 403, 404],
  "bound.envelopes": [403, 403, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "bound.envelope": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.update_envelope": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "bound.lint": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.publish": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "bound.withdraw": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "bound.backtest": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.versions": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.version": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.diff": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.request_waiver": [403, 403, 403, 403, 403, 201, 201, 403, 404, 403, 403, 404],
  "bound.waivers": [403, 403, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.grant_waiver": [403, 403, 403, 403, 403, 200, 200, 403, 404, 403, 403, 404],
  "bound.evaluate": [201, 404, 403, 403, 403, 403, 201, 403, 404, 403, 403, 403],
  "bound.evaluation": [200, 404, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.explain": [200, 404, 200, 200, 200, 200, 200, 200, 404, 404, 404, 404],
  "bound.void_evaluation": [403, 403, 403, 403, 201, 201, 201, 403, 404, 403, 404, 404],
  "chain.head": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "chain.verify": [403, 403, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403],
  "chain.records": [403, 403, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403],
  "chain.record": [403, 403, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403],
  "chain.proof": [403, 403, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403],
  "chain.consistency": [403, 403, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403],
  "chain.checkpoint": [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "chain.keys": [403, 403, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "chain.erase": [403, 403, 403, 403, 403, 403, 201, 403, 403, 403, 403, 403],
  "evidence.create": [403, 403, 201, 201, 201, 201, 201, 201, 201, 201, 201, 201],
  "evidence.list": [403, 403, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  "evidence.download": [403, 403, 200, 200, 200, 200, 200, 404, 404, 404, 404, 404],
  "access_mapping.get": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "access_mapping.set": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "access_mapping.resolve_draft": [403, 403, 403, 403, 403, 403, 200, 403, 200, 403, 403, 403],
  "ingest_keys.mint": [403, 403, 403, 403, 403, 403, 201, 403, 201, 403, 403, 403],
  "ingest_keys.list": [403, 403, 403, 403, 403, 403, 200, 403, 200, 403, 403, 403],
  "ingest_keys.revoke": [403, 403, 403, 403, 403, 403, 200, 403, 404, 403, 403, 403],
  "webhooks.create": [403, 403, 403, 403, 403, 403, 201, 403, 403, 403, 403, 403],
  "webhooks.list": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.get": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.test": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.revoke": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.rotate_secret": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.complete_rotation": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.disable": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.enable": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.deliveries": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.redeliver": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403],
  "webhooks.recover": [403, 403, 403, 403, 403, 403, 200, 403, 403, 403, 403, 403]
}

let world: World
let good: Awaited<ReturnType<typeof goodRequests>>
let tokens: { readonly [C in Caller]: string }

beforeAll(async () => {
  world = await openWorld()
  good = await goodRequests(world)
  tokens = {
    key: world.key,
    otherKey: world.otherKey,
    ...world.tokens,
    unitAuditor: await world.token("auditor", UNIT),
    otherAdmin: await world.token("admin", OTHER_UNIT),
    otherReviewer: await world.token("reviewer", OTHER_UNIT),
    otherOperator: await world.token("operator", OTHER_UNIT),
    otherGovernor: await world.token("governor", OTHER_UNIT)
  }
})
afterAll(() => world.close())

const unitOf = (caller: Caller): string => caller === "key" || caller === "unitAuditor" ? UNIT : caller.startsWith("other") ? OTHER_UNIT : "*"

describe("who may call", () => {
  it("has a line for every endpoint", () => {
    assert.deepStrictEqual(Object.keys(table).sort(), endpoints.map(({ id }) => id).sort())
  })

  for (const endpoint of endpoints) {
    it(`${endpoint.method} ${endpoint.path}: each caller gets what the table says`, async () => {
      for (const [column, caller] of callers.entries()) {
        const { json, path } = await good(endpoint, unitOf(caller))
        const got = await world.send(endpoint.method, path, { token: tokens[caller], ...(json === null ? {} : { json }) })
        const expected = table[endpoint.id]![column]!
        assert.strictEqual(got.status, expected, `${caller}: ${got.text.slice(0, 300)}`)
        if (expected < 300 && endpoint.success.schema !== null) {
          const problems = decode(endpoint.success.schema as never)(got.json, "body")
          assert.isTrue(Result.isSuccess(problems), `${caller}: the answer is not what the table says: ${JSON.stringify(problems).slice(0, 500)}`)
          assert.strictEqual(got.headers.get("content-type"), endpoint.success.media)
        }
        if (expected !== 403) continue
        if (unitOf(caller) !== "*" && caller.toLowerCase().endsWith("key")) {
          assert.deepStrictEqual(got.json, { detail: "This action needs an OIDC session.", code: "key_not_allowed" })
        } else assert.strictEqual(got.json.code, "forbidden")
      }
    })

    it(`${endpoint.method} ${endpoint.path}: a token that opens nothing is 401, or ignored where none is needed`, async () => {
      const { json, path } = await good(endpoint)
      const stranger = await devIssuer()
      const authorizations = [
        undefined, "", "Bearer", "Bearer ", `Basic ${world.key}`, world.key, `Bearer ${world.key} x`, `Bearer fbk_${"a".repeat(43)}`, "Bearer x", `Bearer ${world.revokedKey}`,
        `Bearer ${world.expiredKey}`, `Bearer ${await world.forged({ aud: "another" })}`, `Bearer ${await world.forged({ iss: "https://elsewhere.example" })}`, `Bearer ${await world.forged({ exp: 1 })}`,
        "Bearer a.b.c", `Bearer ${await stranger.sign({ role: "admin", subject: "a", orgUnit: "*" }, Date.now())}`,
        `Bearer ${await world.issuer.sign({ role: "admin", subject: "a", orgUnit: "*" }, Date.now() - 901_000)}`, `Bearer ${"a".repeat(9_000)}`
      ]
      const before = await world.size()
      for (const authorization of authorizations) {
        const got = await world.send(endpoint.method, path, { headers: authorization === undefined ? {} : { authorization }, ...(json === null ? {} : { json }) })
        if (endpoint.access.anonymous) {
          assert.strictEqual(got.status, 200)
          continue
        }
        assert.strictEqual(got.status, 401, authorization)
        assert.strictEqual(got.headers.get("www-authenticate"), "Bearer")
        assert.strictEqual(got.json.code, "unauthorized")
      }
      assert.strictEqual(await world.size(), before)
    })
  }
})

describe("tokens that are made by hand", () => {
  it("are refused for what is wrong with them, not for how they were made", async () => {
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: await world.forged({}) })).status, 200)
  })
})

describe("the order of refusals", () => {
  it("is 401 and 403 before anything is said of the input", async () => {
    for (const endpoint of endpoints.filter(({ access, body }) => !access.anonymous && body !== null)) {
      const { path } = await good(endpoint)
      const bad = { body: "{not json", headers: { "content-type": "text/plain" } }
      assert.strictEqual((await world.send(endpoint.method, path, bad)).status, 401)
      if (!endpoint.access.roles.includes("auditor")) assert.strictEqual((await world.send(endpoint.method, path, { ...bad, token: tokens.auditor })).status, 403)
      if (!endpoint.access.ingestKey) assert.strictEqual((await world.send(endpoint.method, path, { ...bad, token: world.key })).json.code, "key_not_allowed")
    }
  })
})

describe("org units", () => {
  it("bound what a key sees, registers and finds out", async () => {
    const other = await world.register("of the treasury", OTHER_UNIT)
    const seen = await world.send("GET", "/api/v1/agents", { token: world.key })
    assert.isTrue(seen.json.every((agent: { org_unit: string }) => agent.org_unit === UNIT))
    assert.strictEqual((await world.send("GET", `/api/v1/agents/${other}`, { token: world.key })).json.code, "agent_not_found")
    const foreign = await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "x1", org_unit: OTHER_UNIT } })
    assert.deepStrictEqual([foreign.status, foreign.json.code], [403, "org_unit_not_allowed"])
    const taken = await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "of the treasury" } })
    assert.deepStrictEqual([taken.status, taken.json.code, taken.json.agent_id], [409, "agent_name_taken", null])
    const known = await world.send("POST", "/api/v1/agents", { token: world.otherKey, json: { name: "of the treasury" } })
    assert.deepStrictEqual([known.status, known.json.agent_id], [409, other])
  })

  it("bound an admin of one unit to its agents, keys and sparse packs", async () => {
    const token = tokens.otherAdmin
    const keys = await world.send("GET", "/api/v1/admin/ingest-keys", { token })
    assert.isTrue(keys.json.length > 0 && keys.json.every((key: { org_unit: string }) => key.org_unit === OTHER_UNIT))
    const mint = await world.send("POST", "/api/v1/admin/ingest-keys", { token, json: { name: "k", org_unit: UNIT } })
    assert.deepStrictEqual([mint.status, mint.json.code], [403, "org_unit_not_allowed"])
    const register = await world.send("POST", "/api/v1/agents", { token, json: { name: "x2", org_unit: UNIT } })
    assert.deepStrictEqual([register.status, register.json.code], [403, "org_unit_not_allowed"])
    const own = await world.send("POST", "/api/v1/agents", { token, json: { name: "x3", autonomy_tier: "L4" } })
    assert.deepStrictEqual([own.status, own.json.org_unit], [201, OTHER_UNIT])
    const full = await world.send("POST", "/api/v1/evidence/packs", { token, json: { kind: "full" } })
    assert.deepStrictEqual([full.status, full.json.code], [403, "forbidden"])
    const agents = await world.send("GET", "/api/v1/agents", { token })
    assert.isTrue(agents.json.every((agent: { org_unit: string }) => agent.org_unit === OTHER_UNIT))
  })

  it("bound what people of another unit are shown in lists, whatever their role", async () => {
    const owned = await world.register("in no other unit's list", UNIT)
    const lists = ["/agents", "/agents/orphans", "/bound/envelopes", "/evidence/packs"]
    const idsFor = async (path: string, token: string): Promise<ReadonlyArray<string>> => (await world.send("GET", `/api/v1${path}`, { token })).json.map(({ id }: { readonly id: string }) => id)
    for (const path of lists) {
      const mine = await idsFor(path, await world.token("governor", UNIT))
      const theirs = await Promise.all((["otherAdmin", "otherReviewer", "otherOperator", "otherGovernor"] as const).map((caller) => idsFor(path, tokens[caller])))
      if (path !== "/evidence/packs") assert.isAbove(mine.length, 0, path)
      for (const seen of theirs) assert.deepStrictEqual(seen.filter((id) => mine.includes(id)), [], path)
    }
    assert.include(await idsFor("/agents", await world.token("governor", UNIT)), owned)
  })

  it("a key registers up to its tier", async () => {
    const over = await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "x4", autonomy_tier: "L2" } })
    assert.deepStrictEqual([over.status, over.json.code], [403, "tier_over_cap"])
    assert.strictEqual((await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "x5", autonomy_tier: "L1" } })).status, 201)
  })
})

describe("a caller's own view", () => {
  it("tells a key and a person apart", async () => {
    assert.deepStrictEqual((await world.send("GET", "/api/v1/me", { token: world.key })).json, { subject: world.keyId, kind: "key", role: null, org_units: [UNIT], name: null })
    assert.deepStrictEqual((await world.send("GET", "/api/v1/me", { token: tokens.unitAuditor })).json,
      { subject: `auditor of ${UNIT}`, kind: "user", role: "auditor", org_units: [UNIT], name: null })
  })

  it("a revoked key is refused from the next request on", async () => {
    const minted = await world.send("POST", "/api/v1/admin/ingest-keys", { token: world.admin, json: { name: "short", org_unit: UNIT } })
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: minted.json.key })).status, 200)
    await world.send("POST", `/api/v1/admin/ingest-keys/${minted.json.id}/revoke`, { token: world.admin })
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: minted.json.key })).status, 401)
  })

  it("reading writes nothing, not even who was seen", async () => {
    const before = await world.size()
    const newcomer = await world.token("auditor", "*", "somebody new")
    for (const path of ["/api/v1/agents", "/api/v1/chain/records", "/api/v1/evidence/packs", "/api/v1/me"]) await world.send("GET", path, { token: newcomer })
    assert.strictEqual(await world.size(), before)
  })
})
