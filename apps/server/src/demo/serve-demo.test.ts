import { writeFileSync } from "node:fs"
import { endpoints } from "@flyball/contract/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "../cli/testing/commands.ts"
import { goodRequests } from "../http/http-requests.ts"
import { openWorld, type World } from "../http/http-world.ts"
import { makeServer } from "../http/server.ts"
import { demoIssuer, visitor } from "./serve-demo.ts"

let me: Operator
let server: RunningServer
let world: World
/** Shows the store of {@link world}, as the demo shows its own. */
let shown: ReturnType<typeof makeServer>
let shownUrl: string
/** The token that it takes. */
let personaToken: string
beforeAll(async () => {
  me = operator()
  server = await me.serve({ FLYBALL_HOST: "0.0.0.0" }, ["--demo"])
  const { token, verifier } = await demoIssuer(Date.now())
  personaToken = token
  world = await openWorld()
  shown = makeServer({ context: world.context, verifier, visitor, version: "0.0.0-test" })
  shownUrl = (await shown.listen({ host: "127.0.0.1", port: 0 })).url
})
afterAll(async () => {
  await me.leave()
  await shown.close()
  await world.close()
})

// oxlint-disable-next-line no-explicit-any
const read = async (path: string): Promise<any> => (await fetch(server.url + path)).json()

describe("flyball serve --demo", () => {
  it("shows agents with and without an owner, their decisions and provenance, and an intact chain", async () => {
    const agents = await read("/api/v1/agents")
    assert.isAtLeast(agents.length, 3)
    assert.deepStrictEqual((await read("/api/v1/agents/orphans")).length, 1)
    assert.isAtLeast((await read("/api/v1/agents?status=active")).length, 2)
    assert.isAbove((await read(`/api/v1/agents/${agents[1].id}/decisions`)).length, 10)
    assert.lengthOf(await read(`/api/v1/agents/${agents[1].id}/provenance`), 1)
    assert.deepInclude(await read("/api/v1/me"), { role: "auditor", org_units: ["*"], name: "Demo auditor" })
    assert.deepInclude(await read("/api/v1/chain/verify"), { ok: true })
  })

  it("shows an envelope with verdicts, reviews of every answer, a breaker, and a halted agent", async () => {
    const [envelope] = await read("/api/v1/bound/envelopes")
    const agent = envelope.agent_id
    const evaluations = await read(`/api/v1/bound/evaluations?agent_id=${agent}&limit=200`)
    const outcomes = new Set(evaluations.map(({ outcome }: { readonly outcome: string }) => outcome))
    for (const outcome of ["allow", "require_review", "deny"]) assert.isTrue(outcomes.has(outcome), outcome)
    const reviews = await read("/api/v1/bound/reviews")
    assert.deepStrictEqual(
      // oxlint-disable-next-line no-explicit-any
      reviews.map(({ consumed_result, resolution, status }: any) => [status, resolution, consumed_result]).toReversed(),
      [
        ["resolved", "approve", "used"],
        ["resolved", "reject", null],
        ["open", null, null]
      ]
    )
    assert.lengthOf(await read(`/api/v1/bound/agents/${agent}/breakers`), 1)
    const { agents } = await read("/api/v1/bound/safety")
    assert.deepStrictEqual(
      // oxlint-disable-next-line no-explicit-any
      agents.filter(({ halted }: any) => halted).map(({ name }: any) => name),
      ["tau2.ironforge.airline"]
    )
  })

  it("links from its first page to what a visitor can read", async () => {
    const text = await (await fetch(server.url)).text()
    assert.include(text, "Try it")
    for (const [, path] of text.matchAll(/href="([^"]+)"/g))
      assert.strictEqual((await fetch(server.url + path)).status, 200, path)
  })

  it("prints a bearer token of the persona, and takes it: who brings it is who brings none", async () => {
    const token = /^bearer token of the persona auditor, which only reads: (\S+)$/m.exec(server.out())![1]!
    const bearer = { headers: { authorization: `Bearer ${token}` } }
    const me = await (await fetch(`${server.url}/api/v1/me`, bearer)).json()
    assert.deepStrictEqual(me, await read("/api/v1/me"))
    assert.deepStrictEqual(me, {
      subject: "auditor",
      kind: "user",
      role: "auditor",
      org_units: ["*"],
      name: "Demo auditor",
      grants: [{ role: "auditor", org_unit: "*" }]
    })
    for (const other of [`${token}x`, token.slice(0, -1), token.split(".").slice(0, 2).join(".") + "."]) {
      assert.strictEqual(
        (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${other}` } })).status,
        401
      )
    }
  })

  it("hands out packs that verify, and reading any number of times records nothing", async () => {
    const before = (await read("/api/v1/chain/head")).tree_size
    const packs = await read("/api/v1/evidence/packs")
    assert.isAtLeast(packs.length, 4)
    const {
      keys: [key]
    } = await read("/api/v1/chain/keys")
    for (const { id } of packs) {
      writeFileSync(
        me.path("pack.evp"),
        Buffer.from(await (await fetch(`${server.url}/api/v1/evidence/packs/${id}`)).arrayBuffer())
      )
      assert.strictEqual((await me.verify(me.path("pack.evp"), "--vkey", key.vkey)).status, 0)
    }
    assert.strictEqual((await read("/api/v1/chain/head")).tree_size, before)
  })

  it("lets nobody write, with a token or without, and keeps nothing on disk", async () => {
    const agent = (body: unknown, headers = {}) =>
      fetch(`${server.url}/api/v1/agents`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      })
    assert.strictEqual((await agent({ name: "x", org_unit: "demo" })).status, 403)
    for (const token of ["a.b.c", `fbk_${"a".repeat(43)}`, "x"])
      assert.strictEqual(
        (await agent({ name: "x", org_unit: "demo" }, { authorization: `Bearer ${token}` })).status,
        401
      )
    const { status } = await me.flyball(["check"])
    assert.strictEqual(status, 1, "there is no store")
  })
})

const tokens: ReadonlyArray<readonly [how: string, tokenOf: () => string | undefined]> = [
  ["without a token", () => undefined],
  ["with the persona's token", () => personaToken]
]

describe.each(tokens)("a visitor %s", (_, tokenOf) => {
  it("reads every GET that an auditor of all units reads, and is refused everything else", async () => {
    const good = await goodRequests(world)
    const token = tokenOf()
    const headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    }
    for (const endpoint of endpoints) {
      const { json, path } = await good(endpoint)
      const got = await fetch(shownUrl + path, {
        method: endpoint.method,
        headers,
        ...(json === null ? {} : { body: JSON.stringify(json) })
      })
      const expected =
        endpoint.access.anonymous || (endpoint.method === "GET" && endpoint.access.roles.includes("auditor"))
          ? 200
          : 403
      if (got.status !== expected)
        assert.fail(`${endpoint.id}: ${got.status}, not ${expected}: ${(await got.text()).slice(0, 200)}`)
      // A stream does not end by itself.
      await got.body?.cancel()
    }
  })
})
