/**
 * The pages about the interface, and the metrics: as public as they are meant to be, and like every other path to HEAD,
 * OPTIONS, 405, ids and log.
 */
import { Storage, type StorageApi, StorageUnavailable } from "@flyball/core"
import { pages } from "@flyball/http/server"
import { mayReadMetrics, readExposition } from "@flyball/http/testing"
import { Context, Effect } from "effect"
import { request as httpRequest } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "./http-world.ts"
import { makeServer } from "./server.ts"

const TOKEN = "metrics-token-0123456789"
let world: World
beforeAll(async () => {
  world = await openWorld({ server: { metricsToken: TOKEN } })
})
afterAll(() => world.close())

describe("pages", () => {
  for (const { id, path, success } of Object.values(pages)) {
    it(`${path} is public here, and takes GET, HEAD and OPTIONS`, async () => {
      world.log.length = 0
      const got = await world.send("GET", path, { headers: { "x-request-id": "mine" } })
      assert.deepStrictEqual(
        [
          got.status,
          got.headers.get("content-type"),
          got.headers.get("x-request-id"),
          got.headers.get("x-content-type-options")
        ],
        [200, success.media, "mine", "nosniff"]
      )
      const head = await world.send("HEAD", path)
      assert.deepStrictEqual([head.status, head.text, head.headers.get("content-type")], [200, "", success.media])
      const options = await world.send("OPTIONS", path)
      assert.deepStrictEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"])
      const post = await world.send("POST", path, { json: {} })
      assert.deepStrictEqual(
        [post.status, post.json.code, post.headers.get("allow")],
        [405, "method_not_allowed", "GET, HEAD, OPTIONS"]
      )
      assert.deepStrictEqual(
        world.log.map(({ caller, method, route, status }) => [method, route, status, caller]),
        [
          ["GET", path, 200, null],
          ["HEAD", path, 200, null],
          ["OPTIONS", null, 204, null],
          ["POST", null, 405, null]
        ]
      )
      assert.match(id, /^pages\./)
    })
  }

  it("links from the first page to pages that are there, and to nothing elsewhere", async () => {
    const { headers, text } = await world.send("GET", "/")
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!)
    assert.includeMembers(links, ["/docs", "/openapi.json", "/healthz"])
    for (const path of links) assert.oneOf((await world.send("GET", path)).status, [200, 401], path)
    const style = /<style>([^]*?)<\/style>/.exec(text)![1]!
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(style))).toString("base64")
    assert.include(headers.get("content-security-policy")!, `style-src 'sha256-${digest}'`)
    assert.notInclude(text, "Try it")
  })

  it("shows what to try where nobody needs a token", async () => {
    const visitor = { subject: "visitor", issuer: "demo", role: "auditor", orgUnit: "*", name: "visitor" } as never
    const server = makeServer({ context: world.context, verifier: null, visitor, version: "1<2" })
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 })
    const text = await (await fetch(url)).text()
    await server.close()
    assert.include(text, "Try it")
    assert.include(text, "Flyball 1&lt;2")
  })

  it("says 304 to who has it, and keeps it for as long as the process lives", async () => {
    for (const path of ["/openapi.json", "/docs"]) {
      const first = await world.send("GET", path)
      const etag = first.headers.get("etag")!
      assert.match(etag, /^"[A-Za-z0-9_-]{43}"$/)
      assert.strictEqual(first.headers.get("cache-control"), "no-cache")
      assert.strictEqual(Number(first.headers.get("content-length")), first.bytes.length)
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const again = await world.send("GET", path, { headers: { "if-none-match": known } })
        assert.deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag], known)
        assert.isNotEmpty(again.headers.get("x-request-id"))
      }
      assert.strictEqual((await world.send("GET", path, { headers: { "if-none-match": '"x"' } })).text, first.text)
    }
  })

  it("the page may load nothing, and stand in no frame", async () => {
    const { headers, text } = await world.send("GET", "/docs")
    const policy = headers.get("content-security-policy")!
    assert.match(
      policy,
      new RegExp(
        /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; /.source +
          /form-action 'none'; frame-ancestors 'none'$/.source
      )
    )
    const style = /<style>([^]*?)<\/style>/.exec(text)![1]!
    assert.include(
      policy,
      Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(style))).toString("base64"),
      "the browser takes the style sheet"
    )
  })

  it("the second interface has no description yet", async () => {
    assert.strictEqual((await world.send("GET", "/v1/openapi.json", { token: world.admin })).status, 404)
  })
})

const scraped = async (headers: { readonly [name: string]: string } = {}) =>
  readExposition((await world.send("GET", "/metrics", { headers })).text)

describe("metrics", () => {
  it("counts requests and refusals, under names of ours only", async () => {
    await world.send("GET", "/api/v1/agents/secret?q=secret", { token: world.admin })
    await world.send("GET", "/secret")
    await world.send("GET", "/api/v1/me", { token: "secret" })
    await world.send("POST", "/api/v1/agents", { token: world.key, json: { secret: "secret" } })
    const { text } = await world.send("GET", "/metrics")
    assert.notInclude(text, "secret")
    const lines = readExposition(text)
      .get("flyball_http_refusals_total")!
      .lines.map(({ labels }) => `${labels["endpoint"]} ${labels["code"]}`)
    assert.includeMembers(lines, [
      "agents.get agent_not_found",
      "none not_found",
      "system.me unauthorized",
      "agents.create invalid_input"
    ])
    assert.isTrue(
      [...readExposition(text).keys()].every((name) =>
        /^(flyball|process|nodejs)_[a-z0-9_]+_(seconds|bytes|records|agents|reviews|total|info|up)$/.test(name)
      ),
      [...readExposition(text).keys()].join()
    )
  })

  it("reads the chain from the store", async () => {
    const value = async (name: string) => (await scraped()).get(name)!.lines[0]!.value
    await world.send("GET", "/api/v1/chain/checkpoint", { token: world.admin })
    const size = await value("flyball_chain_size_records")
    assert.strictEqual(size, await world.size())
    await world.register("counted")
    assert.strictEqual(await value("flyball_chain_size_records"), size + 1)
    assert.isAtMost(await value("flyball_chain_unsigned_records"), size + 1)
    assert.isAtLeast(await value("flyball_chain_unsigned_age_seconds"), 0)
    assert.isAtLeast(await value("flyball_chain_checkpoint_age_seconds"), 0)
    await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })
    assert.strictEqual(await value("flyball_store_up"), 1)
  })

  it("says that the store does not answer, and still what it knows", async () => {
    const away: StorageApi = {
      ...Context.get(world.context, Storage),
      head: Effect.fail(new StorageUnavailable({ reason: "db.internal refused", wrote: "no" }))
    }
    const server = makeServer({ context: Context.add(world.context, Storage, away), verifier: null, version: 'x"y' })
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 })
    const text = await (await fetch(`${url}/metrics`)).text()
    await server.close()
    const read = readExposition(text)
    assert.strictEqual(read.get("flyball_store_up")!.lines[0]!.value, 0)
    assert.isFalse(read.has("flyball_chain_size_records"))
    assert.isTrue(read.has("process_resident_memory_bytes"))
    assert.notInclude(text, "db.internal")
  })
})

describe("who may read the metrics", () => {
  /** `fetch` sets Host itself. */
  const requested = (headers: { readonly [name: string]: string | ReadonlyArray<string> }, port = world.port) =>
    new Promise<readonly [number, string | undefined]>((resolve, reject) => {
      httpRequest(
        { port, host: "127.0.0.1", path: "/metrics", headers: headers as { readonly [name: string]: string } },
        (response) => {
          response.resume()
          resolve([response.statusCode!, response.headers["www-authenticate"]])
        }
      )
        .on("error", reject)
        .end()
    })

  it("a process on this host, unless somebody passed its request on", async () => {
    for (const host of ["127.0.0.1", `127.0.0.1:${world.port}`, "localhost:1", "[::1]:8787", "[::1]"])
      assert.deepStrictEqual(await requested({ host }), [200, undefined], host)
    for (const host of ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "10.0.0.1"])
      assert.deepStrictEqual(await requested({ host }), [401, "Bearer"], host)
    for (const name of [
      "forwarded",
      "via",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-real-ip",
      "cf-connecting-ip",
      "X-Original-Forwarded-For"
    ])
      assert.deepStrictEqual(await requested({ [name]: "127.0.0.1" }), [401, "Bearer"], name)
  })

  it("a caller with the token, and no other", async () => {
    const elsewhere = { host: "example.org" }
    assert.deepStrictEqual(await requested({ ...elsewhere, authorization: `Bearer ${TOKEN}` }), [200, undefined])
    for (const authorization of [
      "Bearer",
      "Bearer x",
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Basic ${TOKEN}`,
      TOKEN,
      `Bearer ${world.admin}`,
      `Bearer ${world.key}`
    ])
      assert.deepStrictEqual(await requested({ ...elsewhere, authorization }), [401, "Bearer"], authorization)
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: TOKEN })).status, 401, "it opens nothing else")
  })

  it("nobody from elsewhere where there is no token; an address that is this host's in other words is", () => {
    const from = (remoteAddress: string, authorization?: string) =>
      ({
        headers: { host: "localhost", ...(authorization === undefined ? {} : { authorization }) },
        rawHeaders: authorization === undefined ? [] : ["Authorization", authorization],
        socket: { remoteAddress }
      }) as Parameters<typeof mayReadMetrics>[0]
    for (const address of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
      assert.isTrue(mayReadMetrics(from(address), null), address)
    for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", ""])
      assert.isFalse(mayReadMetrics(from(address), null), address)
    assert.isFalse(mayReadMetrics(from("10.0.0.1", "Bearer "), null))
    assert.isTrue(mayReadMetrics(from("10.0.0.1", `Bearer ${TOKEN}`), TOKEN))
  })

  it("leaves the token out of the log", async () => {
    world.log.length = 0
    await requested({ host: "example.org", authorization: `Bearer ${TOKEN}` })
    await world.send("GET", `/metrics?token=${TOKEN}`)
    assert.strictEqual(world.log.length, 2)
    assert.notInclude(JSON.stringify(world.log), TOKEN)
  })
})
