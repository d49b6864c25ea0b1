/** `flyball serve` with a real OpenID provider: people sign in there, and are here what the mapping makes of them. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { writeFileSync } from "node:fs"
import Provider from "oidc-provider"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "../cli/testing/commands.ts"
import { signIn } from "./person.ts"

const CALLBACK = "http://127.0.0.1:1/callback"
/** Groups of each person at the provider. */
const groups: { readonly [login: string]: ReadonlyArray<string> } = {
  ada: ["founders"],
  grace: ["payments", "security"],
  eve: ["interns"]
}

let me: Operator
let provider: Server
let issuer: string
let server: RunningServer
const tokens = new Map<string, string>()

beforeAll(async () => {
  me = operator()
  provider = createServer()
  await new Promise<void>((resolve) => void provider.listen(0, "127.0.0.1", resolve))
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  provider.on(
    "request",
    new Provider(issuer, {
      clients: ["flyball", "another"].map((client_id) => ({
        client_id,
        token_endpoint_auth_method: "none",
        redirect_uris: [CALLBACK],
        grant_types: ["authorization_code"],
        application_type: "native"
      })),
      claims: { openid: ["sub", "name", "groups"] },
      conformIdTokenClaims: false,
      cookies: { keys: ["a secret of this test"] },
      findAccount: (_: unknown, login: string) => ({
        accountId: login,
        claims: () => ({ sub: login, name: `Person ${login}`, groups: groups[login] })
      })
    }).callback()
  )
  for (const login of Object.keys(groups)) tokens.set(login, await signIn(issuer, "flyball", CALLBACK, login))
  tokens.set("ada elsewhere", await signIn(issuer, "another", CALLBACK, "ada"))
  server = await me.serve({ FLYBALL_OIDC_ISSUER: issuer, FLYBALL_BOOTSTRAP_ADMIN: "groups:founders" })
})
afterAll(async () => {
  await me.leave()
  provider.closeAllConnections()
  await new Promise((resolve) => void provider.close(resolve))
})

const call = async (who: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens.get(who)}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  // oxlint-disable-next-line no-explicit-any
  return { status: response.status, json: (await response.json()) as any }
}

describe("people of a real OpenID provider", () => {
  it("begin with one administrator, who says what the others are, from the next request on", async () => {
    assert.deepEqual((await call("ada", "GET", "/api/v1/me")).json, {
      subject: "ada",
      kind: "user",
      role: "admin",
      org_units: ["*"],
      name: "Person ada",
      grants: [{ role: "admin", org_unit: "*" }]
    })
    assert.deepEqual(
      [(await call("grace", "GET", "/api/v1/me")).status, (await call("ada elsewhere", "GET", "/api/v1/me")).status],
      [403, 401]
    )
    const rules = [
      { id: "founders", match: { claim: "groups", value: "founders" }, role: "admin", org_unit: "*" },
      { match: { claim: "groups", value: "payments" }, role: "governor", org_unit: "payments" },
      { match: { claim: "groups", value: "security" }, role: "auditor", org_unit: "*" }
    ]
    assert.deepEqual(
      (await call("ada", "POST", "/api/v1/admin/entitlement-rules/resolve-draft", { rules, groups: groups["grace"] }))
        .json,
      {
        roles: ["governor", "auditor"],
        org_units: ["payments"],
        grants: [
          { role: "governor", org_unit: "payments", rule_id: "r2" },
          { role: "auditor", org_unit: "*", rule_id: "r3" }
        ]
      }
    )
    assert.strictEqual((await call("ada", "PUT", "/api/v1/admin/entitlement-rules", { rules })).status, 200)
    assert.deepInclude((await call("grace", "GET", "/api/v1/me")).json, {
      role: "governor",
      org_units: ["payments"],
      grants: [
        { role: "governor", org_unit: "payments" },
        { role: "auditor", org_unit: "*" }
      ]
    })
    assert.strictEqual((await call("eve", "GET", "/api/v1/me")).status, 403)
  })

  it("act within their org units, under a pseudonym", async () => {
    const made = await call("ada", "POST", "/api/v1/agents", {
      name: "refunds",
      org_unit: "payments",
      owner_name: "Grace",
      owner_email: "grace@example.org"
    })
    const other = await call("ada", "POST", "/api/v1/agents", { name: "letters", org_unit: "post" })
    assert.strictEqual((await call("grace", "POST", `/api/v1/agents/${made.json.id}/activate`)).json.status, "active")
    assert.strictEqual((await call("grace", "POST", `/api/v1/agents/${other.json.id}/activate`)).status, 403)
    assert.strictEqual((await call("grace", "GET", `/api/v1/agents/${other.json.id}`)).status, 200)
    assert.strictEqual(
      (await call("grace", "POST", "/api/v1/admin/ingest-keys", { name: "k", org_unit: "payments" })).status,
      403
    )
    const records = (await call("ada", "GET", "/api/v1/chain/records?kind=agent.activated")).json
    assert.match(records[0].record ?? JSON.stringify(records[0]), /usr_[0-9a-z]{26}/)
    assert.notInclude(JSON.stringify(records), "grace")
  })

  it("do not get in while the provider is away, and agents do", async () => {
    const {
      json: { key }
    } = await call("ada", "POST", "/api/v1/admin/ingest-keys", { name: "k", org_unit: "payments" })
    await server.stop("SIGTERM")
    provider.closeAllConnections()
    const port = (provider.address() as AddressInfo).port
    await new Promise((resolve) => void provider.close(resolve))
    server = await me.serve({ FLYBALL_OIDC_ISSUER: issuer })
    const away = await call("ada", "GET", "/api/v1/me")
    assert.deepEqual([away.status, away.json.code], [503, "issuer_unavailable"])
    tokens.set("agent", key)
    assert.strictEqual((await call("agent", "GET", "/api/v1/me")).status, 200)
    await new Promise<void>((resolve) => void provider.listen(port, "127.0.0.1", resolve))
    assert.strictEqual((await call("ada", "GET", "/api/v1/me")).status, 200)
  })

  it("are not stood in for by tokens made on the host; who is locked out sets the mapping there", async () => {
    const variables = { FLYBALL_OIDC_ISSUER: issuer }
    const { err, status } = await me.flyball(["token", "--role", "admin"], variables)
    assert.strictEqual(status, 1)
    assert.include(err, "Get one from that issuer")
    await server.stop("SIGTERM")
    writeFileSync(
      me.path("mapping.json"),
      JSON.stringify({ rules: [{ match: { claim: "user_ids", value: "eve" }, role: "admin", org_unit: "*" }] })
    )
    assert.strictEqual((await me.flyball(["mapping", "set", "mapping.json"], variables)).status, 0)
    server = await me.serve(variables)
    assert.deepEqual(
      [(await call("eve", "GET", "/api/v1/me")).json.role, (await call("ada", "GET", "/api/v1/me")).status],
      ["admin", 403]
    )
    assert.strictEqual((await me.flyball(["check"], variables)).status, 0)
  })
})
