/**
 * Every route by every kind of caller, against a table written from the specification, not from the code. Spec: api.md,
 * "Who may call".
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { roles } from "@flyball/contract"
import { endpoints } from "@flyball/contract/http"
import { assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT } from "./http-world.ts"
import { accessTests, givenTable, type Table } from "./testing/access-table.ts"

const table = givenTable(() => openWorld())
accessTests(table)

let world: Table["world"]
let good: Table["good"]
let callers: Table["callers"]
beforeAll(() => {
  ;({ callers, good, world } = table.opened())
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
      if (!endpoint.access.roles.includes("auditor"))
        assert.strictEqual(
          (await world.send(endpoint.method, path, { ...bad, token: world.tokens.auditor })).status,
          403
        )
      if (!endpoint.access.ingestKey)
        assert.strictEqual(
          (await world.send(endpoint.method, path, { ...bad, token: world.key })).json.code,
          "key_not_allowed"
        )
    }
  })
})

describe("org units", () => {
  it("bound what a key sees, registers and finds out", async () => {
    const other = await world.register("of the treasury", OTHER_UNIT)
    const seen = await world.send("GET", "/api/v1/agents", { token: world.key })
    assert.isTrue(seen.json.every((agent: { org_unit: string }) => agent.org_unit === UNIT))
    assert.strictEqual(
      (await world.send("GET", `/api/v1/agents/${other}`, { token: world.key })).json.code,
      "agent_not_found"
    )
    const foreign = await world.send("POST", "/api/v1/agents", {
      token: world.key,
      json: { name: "x1", org_unit: OTHER_UNIT }
    })
    assert.deepStrictEqual([foreign.status, foreign.json.code], [403, "org_unit_not_allowed"])
    const taken = await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "of the treasury" } })
    assert.deepStrictEqual([taken.status, taken.json.code, taken.json.agent_id], [409, "agent_name_taken", null])
    const known = await world.send("POST", "/api/v1/agents", {
      token: world.otherKey,
      json: { name: "of the treasury" }
    })
    assert.deepStrictEqual([known.status, known.json.agent_id], [409, other])
  })

  it("bound an admin of one unit to its agents, keys and sparse packs", async () => {
    const token = await world.token("admin", OTHER_UNIT)
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

  it("bound what people are shown in lists to their own unit's, whatever their role", async () => {
    const owned = await world.register("in no other unit's list", UNIT)
    const lists = ["/agents", "/agents/orphans", "/bound/envelopes", "/evidence/packs"]
    const idsFor = async (path: string, token: string): Promise<ReadonlyArray<string>> =>
      (await world.send("GET", `/api/v1${path}`, { token })).json.map(({ id }: { readonly id: string }) => id)
    for (const path of lists) {
      const mine = await idsFor(path, await world.token("governor", UNIT))
      for (const role of roles)
        assert.deepStrictEqual(await idsFor(path, await world.token(role, UNIT)), mine, `${role}, ${path}`)
      const theirs = await Promise.all(roles.map(async (role) => idsFor(path, await world.token(role, OTHER_UNIT))))
      if (path !== "/evidence/packs") assert.isAbove(mine.length, 0, path)
      for (const seen of theirs)
        assert.deepStrictEqual(
          seen.filter((id) => mine.includes(id)),
          [],
          path
        )
    }
    assert.include(await idsFor("/agents", await world.token("governor", UNIT)), owned)
  })

  it("let any role fetch a sparse pack of its own unit's agents, and nobody of another", async () => {
    const agent = await world.register("of a sparse pack", UNIT)
    for (const role of roles) {
      const token = await world.token(role, UNIT)
      const { json: pack } = await world.send("POST", "/api/v1/evidence/packs", {
        token,
        json: { kind: "sparse", agent_id: agent }
      })
      assert.strictEqual((await world.send("GET", `/api/v1/evidence/packs/${pack.id}`, { token })).status, 200, role)
      assert.strictEqual(
        (await world.send("GET", `/api/v1/evidence/packs/${pack.id}`, { token: await world.token(role, OTHER_UNIT) }))
          .status,
        404,
        role
      )
    }
  })

  it("a key registers up to its tier", async () => {
    const over = await world.send("POST", "/api/v1/agents", {
      token: world.key,
      json: { name: "x4", autonomy_tier: "L2" }
    })
    assert.deepStrictEqual([over.status, over.json.code], [403, "tier_over_cap"])
    assert.strictEqual(
      (await world.send("POST", "/api/v1/agents", { token: world.key, json: { name: "x5", autonomy_tier: "L1" } }))
        .status,
      201
    )
  })
})

describe("a refusal", () => {
  const sentence = async (method: string, path: string, token: string, json?: unknown): Promise<string> => {
    const got = await world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
    assert.deepStrictEqual([got.status, got.json.code], [403, "forbidden"])
    return got.json.detail
  }

  it("names the role that is missing, and the role that is there", async () => {
    assert.strictEqual(
      await sentence("GET", "/admin/ingest-keys", world.tokens.auditor),
      "This action needs the role admin; you have auditor."
    )
    for (const path of ["/webhooks", "/admin/entitlement-rules"]) {
      assert.strictEqual(
        await sentence("GET", path, world.tokens.auditor),
        "This action needs the role admin in org unit *; you have auditor in *."
      )
      assert.strictEqual(
        await sentence("GET", path, await world.token("admin", UNIT)),
        `This action needs the role admin in org unit *; you have admin in ${UNIT}.`
      )
    }
    assert.strictEqual(
      await sentence("POST", "/bound/envelopes", world.tokens.operator, {}),
      "This action needs the role governor or admin; you have operator."
    )
  })

  it("of an act on what another grant reads says where the role is missing", async () => {
    const agent = await world.register("read by one grant", UNIT)
    const { token } = callers.find(({ name }) => name === `admin of ${OTHER_UNIT} and auditor of ${UNIT}`)!
    assert.strictEqual(
      await sentence("POST", `/agents/${agent}/suspend`, token, {}),
      "This action needs the role operator, governor or admin in the org unit that it is about; you have admin " +
        `in ${OTHER_UNIT} and auditor in ${UNIT}.`
    )
  })

  it("stays 404 for what no grant reads, and for what is past the act where it may act", async () => {
    const [reader, elsewhere] = [`admin of ${OTHER_UNIT} and auditor of ${UNIT}`, "nobody's unit"]
    const { token } = callers.find(({ name }) => name === reader)!
    const hidden = await world.register("read by no grant", elsewhere)
    const ended = await world.register("at its end", OTHER_UNIT)
    await world.send("POST", `/api/v1/agents/${ended}/decommission`, { token: world.admin })
    const json = {
      name: "of one at its end",
      agent_id: ended,
      envelope: (
        (await good(endpoints.find(({ id }) => id === "bound.create_envelope")!)).json as { readonly envelope: object }
      ).envelope
    }
    const answers = [
      await world.send("POST", `/api/v1/agents/${hidden}/suspend`, { token }),
      await world.send("POST", "/api/v1/bound/envelopes", { token, json })
    ]
    assert.deepStrictEqual(
      answers.map(({ json, status }) => [status, json.code]),
      [
        [404, "agent_not_found"],
        [404, "agent_not_found"]
      ]
    )
  })
})

describe("people with two grants", () => {
  const tokenOf = (name: string): string => callers.find((caller) => caller.name === name)!.token

  it("see in lists what either grant shows, and act only where the role is", async () => {
    const [here, there] = [
      await world.register("two grants, here", UNIT),
      await world.register("two grants, there", OTHER_UNIT)
    ]
    const token = tokenOf(`operator of ${UNIT} and governor of ${OTHER_UNIT}`)
    const ids = (await world.send("GET", "/api/v1/agents", { token })).json.map(({ id }: { readonly id: string }) => id)
    assert.includeMembers(ids, [here, there])
    const status = async (id: string, act: string): Promise<number> =>
      (await world.send("POST", `/api/v1/agents/${id}/${act}`, { token })).status
    assert.deepStrictEqual([await status(here, "suspend"), await status(there, "suspend")], [200, 200])
    assert.deepStrictEqual([await status(here, "decommission"), await status(there, "decommission")], [403, 200])
  })

  it("register in the one unit where a role of theirs registers, named or not", async () => {
    const token = tokenOf(`operator of ${UNIT} and governor of ${OTHER_UNIT}`)
    const made = await world.send("POST", "/api/v1/agents", { token, json: { name: "by its governor" } })
    assert.deepStrictEqual([made.status, made.json.org_unit], [201, OTHER_UNIT])
  })

  it("learn whose name is taken where they read", async () => {
    const taken = await world.register("taken where they read", OTHER_UNIT)
    const got = await world.send("POST", "/api/v1/agents", {
      token: tokenOf(`admin of ${UNIT} and auditor of ${OTHER_UNIT}`),
      json: { name: "taken where they read" }
    })
    assert.deepStrictEqual([got.status, got.json.agent_id], [409, taken])
  })
})

describe("a caller's own view", () => {
  it("distinguishes a key and a person", async () => {
    assert.deepStrictEqual((await world.send("GET", "/api/v1/me", { token: world.key })).json, {
      subject: world.keyId,
      kind: "key",
      role: null,
      org_units: [UNIT],
      name: null,
      grants: []
    })
    assert.deepStrictEqual(
      (await world.send("GET", "/api/v1/me", { token: await world.token("auditor", UNIT) })).json,
      {
        subject: `auditor of ${UNIT}`,
        kind: "user",
        role: "auditor",
        org_units: [UNIT],
        name: null,
        grants: [{ role: "auditor", org_unit: UNIT }]
      }
    )
  })

  it("lists each of a person's grants beside the strongest role and its units", async () => {
    const { name, token } = callers.find(({ grants }) => grants.length > 1)!
    assert.deepStrictEqual((await world.send("GET", "/api/v1/me", { token })).json, {
      subject: name,
      kind: "user",
      role: "governor",
      org_units: [UNIT],
      name: null,
      grants: [
        { role: "governor", org_unit: UNIT },
        { role: "auditor", org_unit: "*" }
      ]
    })
  })

  it("a revoked key is refused from the next request on", async () => {
    const minted = await world.send("POST", "/api/v1/admin/ingest-keys", {
      token: world.admin,
      json: { name: "short", org_unit: UNIT }
    })
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: minted.json.key })).status, 200)
    await world.send("POST", `/api/v1/admin/ingest-keys/${minted.json.id}/revoke`, { token: world.admin })
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: minted.json.key })).status, 401)
  })

  it("reading writes nothing, not even who was seen", async () => {
    const before = await world.size()
    const newcomer = await world.token("auditor", "*", "somebody new")
    for (const path of ["/api/v1/agents", "/api/v1/chain/records", "/api/v1/evidence/packs", "/api/v1/me"])
      await world.send("GET", path, { token: newcomer })
    assert.strictEqual(await world.size(), before)
  })
})
