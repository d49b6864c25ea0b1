/** The API as an embedding host mounts it: over `openGovernor`, without Effect, with the host's own authentication. */
import { createServer } from "node:http"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { endpoints } from "@flyball/contract/http"
import { type Governor, GovernorError, memoryStorage, openGovernor } from "@flyball/core"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type HostCaller, type HostRequest, type HttpOptions, openHttp } from "./index.ts"
import { version } from "./version.ts"

let governor: Governor
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined })
})
afterEach(() => governor.close())

const BASE = "http://host.example"
const ada: HostCaller = { subject: "ada", grants: [{ role: "admin", org_unit: "*" }], name: "Ada Lovelace" }
/** Whom the header `x-user` names. */
const byHeader =
  (people: { readonly [name: string]: unknown }) =>
  ({ headers }: HostRequest): HostCaller | null =>
    (people[headers.get("X-User") ?? ""] as HostCaller | undefined) ?? null

const json = (value: unknown, headers: { readonly [name: string]: string } = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})
const codeOf = async (answered: Promise<Response>): Promise<readonly [number, string]> => {
  const response = await answered
  return [response.status, ((await response.json()) as { code: string }).code]
}
const refusedOption = (options: unknown): string => {
  try {
    openHttp(governor, options as HttpOptions)
  } catch (error) {
    return error instanceof GovernorError ? error.code : String(error)
  }
  return "opened"
}

describe("without authentication", () => {
  it("refuses every caller, except at /status and /healthz", async () => {
    const { fetch } = openHttp(governor)
    for (const { method, path } of endpoints) {
      const url = BASE + path.replaceAll(/\{[^}]*\}/g, "x")
      const token = { authorization: `Bearer ${"a.".repeat(9)}b` }
      for (const headers of [{}, token]) {
        const { status } = await fetch(new Request(url, { method, headers }))
        assert.strictEqual(status, ["/status", "/healthz"].includes(path) ? 200 : 401, `${method} ${path}`)
      }
    }
    for (const page of ["/", "/docs", "/openapi.json", "/metrics"])
      assert.strictEqual((await fetch(new Request(BASE + page))).status, 404, page)
  })

  it("accepts ingest keys, which are in the store", async () => {
    const admin = openHttp(governor, { authentication: { authenticate: () => ada } })
    const minted = await admin.fetch(
      new Request(`${BASE}/api/v1/admin/ingest-keys`, json({ name: "agents", org_unit: "support" }))
    )
    const { key } = (await minted.json()) as { key: string }
    const { fetch } = openHttp(governor)
    const asKey = { authorization: `Bearer ${key}` }
    assert.strictEqual((await fetch(new Request(`${BASE}/api/v1/agents`, { headers: asKey }))).status, 200)
    const wrong = { authorization: `Bearer fbk_${"a".repeat(43)}` }
    assert.deepStrictEqual(await codeOf(fetch(new Request(`${BASE}/api/v1/agents`, { headers: wrong }))), [
      401,
      "unauthorized"
    ])
  })

  it("reports the version of the package", async () => {
    const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"))
    assert.strictEqual(version, manifest.version)
    const { fetch } = openHttp(governor)
    assert.deepStrictEqual(await (await fetch(new Request(`${BASE}/status`))).json(), { status: "live", version })
  })
})

describe("the host's own authentication", () => {
  it("decides who a caller is, and the contract what each may do", async () => {
    const people = {
      ada,
      ben: { subject: "ben", grants: [{ role: "auditor", org_unit: "support" }] },
      eve: { subject: "eve", grants: [] }
    }
    const { fetch } = openHttp(governor, { authentication: { authenticate: byHeader(people) } })
    const me = (name: string) => fetch(new Request(`${BASE}/api/v1/me`, { headers: { "x-user": name } }))
    assert.deepInclude(await (await me("ada")).json(), { subject: "ada", role: "admin", org_units: ["*"] })
    assert.deepInclude(await (await me("ben")).json(), { subject: "ben", role: "auditor", org_units: ["support"] })
    assert.deepStrictEqual(await codeOf(me("eve")), [403, "forbidden"])
    assert.deepStrictEqual(await codeOf(me("nobody")), [401, "unauthorized"])
    const register = (name: string) =>
      fetch(new Request(`${BASE}/api/v1/agents`, json({ name: "a", org_unit: "support" }, { "x-user": name })))
    assert.deepStrictEqual(await codeOf(register("ben")), [403, "forbidden"])
    const registered = await register("ada")
    assert.strictEqual(registered.status, 201)
    // The agent that the host's own program sees.
    assert.lengthOf(await governor.agents.list(), 1)
  })

  it("gets method, path below the prefix, headers and the framework's request, and no ingest keys", async () => {
    const called: Array<HostRequest> = []
    const authenticate = (request: HostRequest): null => {
      called.push(request)
      return null
    }
    const { fetch } = openHttp(governor, { prefix: "/flyball", authentication: { authenticate } })
    const request = new Request(`${BASE}/flyball/api/v1/agents?limit=1`, { headers: { cookie: "s=1" } })
    await fetch(request)
    await fetch(new Request(request, { headers: { authorization: `Bearer fbk_${"a".repeat(43)}` } }))
    assert.lengthOf(called, 1)
    const [{ headers, method, native, path }] = called as [HostRequest]
    assert.deepStrictEqual([method, path, headers.get("Cookie")], ["GET", "/api/v1/agents", "s=1"])
    assert.strictEqual(native, request)
  })

  it("is 503 when it rejects, and 500 when what it answers is no caller", async () => {
    const open = (authenticate: unknown) => openHttp(governor, { authentication: { authenticate } as never })
    const me = (authenticate: unknown) => codeOf(open(authenticate).fetch(new Request(`${BASE}/api/v1/me`)))
    assert.strictEqual((await me(() => Promise.reject(new Error("the session store is away"))))[0], 503)
    assert.strictEqual(
      (
        await me(() => {
          throw new Error("at once")
        })
      )[0],
      503
    )
    const unit = { role: "admin", org_unit: "*" }
    for (const wrong of [
      true,
      {},
      { subject: "", grants: [unit] },
      { subject: "x".repeat(257), grants: [unit] },
      { subject: "\ud800", grants: [unit] },
      { subject: 7, grants: [unit] },
      { subject: "a", grants: [{ ...unit, role: "root" }] },
      { subject: "a", grants: [{ ...unit, org_unit: "" }] },
      { subject: "a", grants: [null] },
      { subject: "a", grants: "admin" }
    ])
      assert.deepStrictEqual(await me(() => wrong), [500, "internal_error"], JSON.stringify(wrong))
  })

  it("lets no page of another site write with the browser's cookies", async () => {
    const { fetch } = openHttp(governor, { authentication: { authenticate: () => ada } })
    const send = (site: string, method = "POST") =>
      fetch(
        new Request(`${BASE}/api/v1/agents`, {
          ...(method === "POST" ? json({ name: site, org_unit: "u" }) : {}),
          headers: { "content-type": "application/json", "sec-fetch-site": site }
        })
      )
    for (const site of ["cross-site", "same-site"]) {
      assert.deepStrictEqual(await codeOf(send(site)), [403, "forbidden"])
      assert.strictEqual((await send(site, "GET")).status, 200)
    }
    assert.lengthOf(await governor.agents.list(), 0)
    for (const site of ["same-origin", "none"]) assert.strictEqual((await send(site)).status, 201)
  })
})

describe("pages and metrics", () => {
  it("are served where the host enables them, with links below the prefix", async () => {
    const metricsToken = "a-token-for-prometheus"
    const { fetch } = openHttp(governor, { prefix: "/flyball", pages: true, metricsToken })
    const get = (path: string, headers: { readonly [name: string]: string } = {}) =>
      fetch(new Request(`${BASE}/flyball${path}`, { headers }))
    assert.include(await (await get("")).text(), 'href="/flyball/openapi.json"')
    assert.include(await (await get("/docs")).text(), 'href="/flyball/openapi.json"')
    const described = (await (await get("/openapi.json")).json()) as { servers: unknown }
    assert.deepStrictEqual(described.servers, [{ url: "/flyball" }])
    assert.strictEqual((await get("/metrics")).status, 401)
    const metrics = await get("/metrics", { authorization: `Bearer ${metricsToken}` })
    assert.include(await metrics.text(), "flyball_http_requests_total")
    assert.strictEqual((await fetch(new Request(`${BASE}/api/v1/me`))).status, 404)
  })

  it("are closed to a process on this host without the token", async () => {
    const api = openHttp(governor, { pages: true })
    const server = createServer(api.node)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    assert.strictEqual((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 401)
    await api.close()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe("bodies that the host has read", () => {
  it("are accepted as bytes, text or parsed values, and never guessed", async () => {
    const api = openHttp(governor, { authentication: { authenticate: () => ada } })
    const request = async () => {
      const made = new Request(`${BASE}/api/v1/agents`, json({ name: "never read again", org_unit: "u" }))
      await made.text()
      return made
    }
    for (const body of [
      '{"name":"a","org_unit":"u"}',
      Buffer.from('{"name":"b","org_unit":"u"}'),
      { name: "c", org_unit: "u" }
    ])
      assert.strictEqual((await api.fetch(await request(), { body })).status, 201)
    assert.strictEqual((await api.fetch(await request(), { body: { name: 2 ** 60 } })).status, 422)
    assert.deepStrictEqual(await codeOf(api.fetch(await request())), [500, "internal_error"])
    assert.deepStrictEqual((await governor.agents.list()).map(({ name }) => name).sort(), ["a", "b", "c"])
  })
})

describe("abort and close", () => {
  it("rejects with the reason of the signal, and writes nothing of half a body", async () => {
    const { fetch } = openHttp(governor, { authentication: { authenticate: () => ada } })
    const leaving = new AbortController()
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":')) })
    const init = { ...json(null), body, duplex: "half", signal: leaving.signal } as RequestInit
    const answer = fetch(new Request(`${BASE}/api/v1/agents`, init))
    const reason = new Error("the reader left")
    setImmediate(() => leaving.abort(reason))
    assert.strictEqual(await answer.catch((cause: unknown) => cause), reason)
    const late = fetch(new Request(`${BASE}/status`, { signal: leaving.signal }))
    assert.strictEqual(await late.catch((cause: unknown) => cause), reason)
    assert.lengthOf(await governor.agents.list(), 0)
  })

  it("answers 503 after close, and after the governor is closed", async () => {
    const api = openHttp(governor)
    await api.close()
    assert.deepStrictEqual(await codeOf(api.fetch(new Request(`${BASE}/status`))), [503, "draining"])
    const other = openHttp(governor)
    await governor.close()
    assert.deepStrictEqual(await codeOf(other.fetch(new Request(`${BASE}/status`))), [503, "draining"])
  })

  it("ends endless streams when the governor is closed", async () => {
    const { agent } = await governor.agents.register({ name: "watched", org_unit: "u" })
    const { fetch } = openHttp(governor, { authentication: { authenticate: () => ada } })
    const watched = `${BASE}/api/v1/bound/kill/stream?target_type=agent&target_id=${agent.id}`
    const { body } = await fetch(new Request(watched))
    const reader = body!.getReader()
    assert.include(new TextDecoder().decode((await reader.read()).value), "event: kill")
    const closed = governor.close()
    while (!(await reader.read()).done);
    await closed
  })

  it("waits for requests under way, and aborts them after closeMs", async () => {
    let letGo = (): void => undefined
    const held = new Promise<HostCaller>((resolve) => (letGo = () => resolve(ada)))
    const called = Promise.withResolvers<void>()
    const authenticate = (): Promise<HostCaller> => {
      called.resolve()
      return held
    }
    const patient = openHttp(governor, { authentication: { authenticate } })
    const answer = patient.fetch(new Request(`${BASE}/api/v1/me`))
    await called.promise
    let isClosed = false
    const closed = patient.close().then(() => (isClosed = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.isFalse(isClosed)
    letGo()
    assert.strictEqual((await answer).status, 200)
    await closed
    const never = openHttp(governor, {
      closeMs: 1,
      authentication: { authenticate: () => new Promise(() => undefined) }
    })
    const cut = never.fetch(new Request(`${BASE}/api/v1/me`)).catch((cause: Error) => cause.message)
    await new Promise((resolve) => setImmediate(resolve))
    await never.close()
    assert.match(String(await cut), /cut off/)
  })
})

describe("options", () => {
  it("are refused when they are invalid, and so is a value that is no open governor", () => {
    for (const wrong of [
      { prefix: "flyball" },
      { prefix: "/a/../b" },
      { prefix: "/a b" },
      { prefix: 7 },
      { pages: "yes" },
      { metricsToken: "short" },
      { log: "stderr" },
      { closeMs: -1 },
      { stallMs: 0.5 },
      { authentication: {} },
      { authentication: { authenticate: "me" } },
      { authentication: { authenticate: () => null, oidc: { issuer: "https://login.example.org" } } },
      { authentication: { oidc: { issuer: "http://login.example.org" } } },
      { authentication: { oidc: { issuer: "https://login.example.org", audience: "" } } },
      { auth: null }
    ])
      assert.strictEqual(refusedOption(wrong), "invalid_option", JSON.stringify(wrong))
    for (const good of [{ prefix: "/" }, { prefix: "/a/b/" }, { authentication: null }])
      assert.strictEqual(refusedOption(good), "opened", JSON.stringify(good))
    for (const none of [{}, null, undefined, { ...governor }])
      assert.throws(() => openHttp(none as Governor), /openGovernor/)
  })
})
