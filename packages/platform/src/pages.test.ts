/** The interface description of the platform API and its page, as anyone reads them. Spec: document 2. */
import { documentAgents, documents, fleet, gateway, platformWebhooks, usage } from "@flyball/contract/http"
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterEach, assert, beforeEach, it } from "vitest"
import { platform } from "./index.ts"

let governor: Governor
let api: HttpApi
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
  api = openHttp(governor)
})
afterEach(() => governor.close())

const get = (path: string, headers: { readonly [name: string]: string } = {}) =>
  api.fetch(new Request(`http://host.example${path}`, { headers }))

it("describes each row with its scope, limit, quota and errors, and every reference leads somewhere", async () => {
  const response = await get("/v1/openapi.json")
  assert.strictEqual(response.status, 200)
  assert.strictEqual(response.headers.get("x-ratelimit-limit"), "20")
  const text = await response.text()
  const described = JSON.parse(text)
  const groups = [usage, platformWebhooks, gateway, documents, documentAgents, fleet]
  for (const row of groups.flatMap((group) => Object.values(group))) {
    const operation = described.paths[row.path][row.method.toLowerCase()]
    const names: ReadonlyArray<string> = operation.parameters.map(({ name }: { readonly name: string }) => name)
    assert.strictEqual(names.includes("Idempotency-Key"), row.method === "POST" || row.method === "PATCH", row.path)
    assert.include(operation.description, `\`${row.access.scope}\``)
    assert.containsAllKeys(operation.responses, ["400", "401", "403", "429", "503", String(row.success.status)])
  }
  assert.include(described.paths["/v1/fleet/routes/optimize"].post.description, "100 an hour")
  const extract = described.paths["/v1/documents/extract"].post
  assert.include(extract.description, "`documents` a month")
  assert.containsAllKeys(extract.requestBody.content, ["application/json", "application/pdf"])
  assert.containsAllKeys(extract.responses["201"].headers, ["X-Request-Id", "X-RateLimit-Remaining"])
  const { error } = described.components.schemas.RateLimitExceeded.properties
  assert.deepStrictEqual(
    [error.properties.code.const, error.properties.type.const],
    ["rate_limit_exceeded", "rate_limit_error"]
  )
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path!.split("/").reduce((at, name) => at?.[name], described)
    assert.isDefined(found, path!)
  }
  const etag = response.headers.get("etag")!
  assert.strictEqual((await get("/v1/openapi.json", { "if-none-match": etag })).status, 304)
})

it("is a page whose links lead to what it has", async () => {
  const html = await (await get("/v1/docs")).text()
  const of = (name: string) => [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => value!)
  const ids = of("id")
  assert.strictEqual(new Set(ids).size, ids.length)
  assert.deepStrictEqual(
    of("href").filter((href) => href !== "/v1/openapi.json" && !ids.includes(href.slice(1))),
    []
  )
  assert.include(html, "quota_exceeded")
})

it("is limited by the reader's address, and a page that is no page needs a key", async () => {
  for (let at = 0; at < 20; at++) assert.strictEqual((await get("/v1/openapi.json")).status, 200)
  assert.strictEqual((await get("/v1/openapi.json")).status, 429)
  assert.strictEqual((await get("/v1/usage")).status, 429)
})
