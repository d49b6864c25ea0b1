/**
 * The traces of a request: its id, its line in the log, and the headers that keep a browser from storing the answer.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import type { TokenVerifier } from "@flyball/http/server"
import { assert, describe, it } from "vitest"
import { inNetworks, readNetworks } from "../host/network.ts"
import type { World } from "./http-world.ts"
import { givenServers } from "./testing/given-servers.ts"

const { opened } = givenServers()

describe("request ids", () => {
  it("are made for every response, and taken from the caller where sane", async () => {
    const { send } = await opened()
    const own = await send("GET", "/status", { headers: { "x-request-id": "trace-1:a/b" } })
    assert.strictEqual(own.headers.get("x-request-id"), "trace-1:a/b")
    for (const invalid of ["a b", "ä".normalize("NFC"), "x".repeat(129), "<script>"]) {
      const got = await send("GET", "/status", { headers: { "x-request-id": invalid } })
      assert.match(got.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/)
    }
    for (const path of ["/nothing", "/api/v1/me", "/healthz"])
      assert.isNotEmpty((await send("GET", path)).headers.get("x-request-id"))
  })
})

describe("the log", () => {
  it("names route, status and caller, and holds no token, path, query or body", async () => {
    const { admin, key, keyId, log, otherKey, revokedKey, send } = await opened()
    log.length = 0
    await send("POST", "/api/v1/agents?password=hunter2", {
      token: key,
      json: { name: "private name", zzz: "hunter2" }
    })
    await send("GET", "/api/v1/agents/hunter2?q=hunter2", { token: admin })
    await send("GET", "/hunter2", { token: otherKey })
    await send("GET", "/api/v1/me", { token: revokedKey })
    assert.deepStrictEqual(
      log.map(({ caller, method, route, status }) => [method, route, status, caller]),
      [
        ["POST", "/api/v1/agents", 422, keyId],
        ["GET", "/api/v1/agents/{agent_id}", 404, "user"],
        ["GET", null, 404, null],
        ["GET", "/api/v1/me", 401, null]
      ]
    )
    const text = JSON.stringify(log)
    for (const secret of [admin, key, otherKey, revokedKey, "hunter2", "private name"]) assert.notInclude(text, secret)
  })

  it("names the check that a token failed, and the answer does not", async () => {
    const { admin, log, revokedKey, send } = await opened()
    log.length = 0
    const answers = [
      await send("GET", "/api/v1/me", { token: revokedKey }),
      await send("GET", "/api/v1/me", { token: `${admin.slice(0, -4)}AAAA` }),
      await send("GET", "/api/v1/me", { headers: { authorization: "Basic a" } }),
      await send("GET", "/api/v1/me")
    ]
    assert.deepStrictEqual(
      log.map(({ tokenProblem }) => tokenProblem),
      ["key", "key", "form", undefined]
    )
    assert.lengthOf(new Set(answers.map(({ status, text }) => `${status} ${text}`)), 1)
    const { text } = await send("GET", "/metrics")
    assert.include(text, 'flyball_http_refused_tokens_total{reason="key"} 2')
  })

  it("names the claims that lack values at every 403, and so does the answer", async () => {
    const claims = { subject: "ann", name: null, groups: [], userIds: [], orgUnit: "claims", roles: ["operator"] }
    const verifier: TokenVerifier = {
      issuer: "https://login.example.org",
      trustsCanonical: true,
      verify: async () => ({ ...claims, incomplete: ["groups: overage"] })
    }
    const { log, send } = await opened({ server: { verifier } })
    log.length = 0
    const halt = { target_type: "model", target_id: "big", reason: "x" }
    for (const [path, json] of [
      // Before the handlers, and by two handlers: the unit of a body, and what reaches every unit.
      ["/api/v1/admin/entitlement-rules", undefined],
      ["/api/v1/agents", { name: "bot", org_unit: "treasury", owner_name: "A", owner_email: "a@b.c" }],
      ["/api/v1/bound/kill/activate", halt]
    ] as const) {
      const { json: problem, status } = await send(json === undefined ? "GET" : "POST", path, { token: "a.b", json })
      assert.strictEqual(status, 403, path)
      assert.include(problem.detail, "Claims of the token are incomplete (groups: overage), so a role may be missing.")
    }
    const { json: missing } = await send("GET", "/api/v1/agents/agt_x", { token: "a.b" })
    assert.notInclude(JSON.stringify(missing), "overage")
    assert.deepStrictEqual(
      log.map(({ incompleteClaims, status }) => [status, incompleteClaims]),
      [
        [403, ["groups: overage"]],
        [403, ["groups: overage"]],
        [403, ["groups: overage"]],
        [404, undefined]
      ]
    )
  })

  it("limits those without a key by the address that a trusted proxy reports", async () => {
    const world = await opened({ server: { trustedProxy: inNetworks(readNetworks("127.0.0.1")!) } })
    const statusOf = async (client: string) =>
      (await world.send("GET", "/v1/limits", { headers: { "x-forwarded-for": client } })).status
    for (let n = 0; n < 20; n++) assert.strictEqual(await statusOf("192.0.2.1"), 401)
    assert.deepStrictEqual([await statusOf("192.0.2.1"), await statusOf("192.0.2.2")], [429, 401])
  })

  it("names the client past proxies that are trusted, and the socket's other end otherwise", async () => {
    const world = await opened({ server: { trustedProxy: inNetworks(readNetworks("127.0.0.1, 10.0.0.0/8")!) } })
    const clients = async ({ log, send }: World): Promise<ReadonlyArray<string | null>> => {
      log.length = 0
      for (const headers of [
        {},
        { "x-forwarded-for": "203.0.113.9, 192.0.2.1, 10.0.0.2" },
        { forwarded: 'for="[2001:db8::7]:80"' },
        { "x-forwarded-for": "no address" }
      ])
        await send("GET", "/status", { headers })
      return log.map(({ client }) => client)
    }
    assert.deepStrictEqual(await clients(world), ["127.0.0.1", "192.0.2.1", "2001:db8::7", "127.0.0.1"])
    assert.deepStrictEqual(await clients(await opened()), ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"])
  })

  it("responses are not to be cached or guessed at", async () => {
    const { send } = await opened()
    for (const path of ["/status", "/nothing"]) {
      const { headers } = await send("GET", path)
      assert.deepStrictEqual(
        [headers.get("cache-control"), headers.get("x-content-type-options")],
        ["no-store", "nosniff"]
      )
    }
  })
})
