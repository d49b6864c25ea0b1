/** Wrong input on every row of `/v1`: the documented error in its form, and nothing stored. Spec: document 2. */
import type { AnyEndpoint, Param } from "@flyball/contract/http"
import type { PlatformScope } from "@flyball/contract"
import { type AnyModule, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { platform } from "./index.ts"
import { installedProducts } from "./testing/installed-products.ts"

const rows: ReadonlyArray<AnyEndpoint> = (platform().modules as ReadonlyArray<AnyModule>).flatMap(({ rows }) =>
  Object.values(rows)
)

let governor: Governor
let api: HttpApi
const keys: { [name: string]: string } = {}
beforeAll(async () => {
  const capabilities = [platform(), installedProducts()]
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities })
  api = openHttp(governor, {
    authentication: {
      authenticate: ({ headers }) => {
        const role = headers.get("x-role") as "auditor" | "admin" | null
        return role === null ? null : { subject: role, grants: [{ role, org_unit: "ops" }] }
      }
    }
  })
  const mint = (name: string, scopes: ReadonlyArray<PlatformScope | "*">) =>
    governor.platformKeys.mint({ name, org_unit: "ops", plan: "custom", scopes: [...scopes] })
  keys["all"] = (await mint("all", ["*", "executions:approve"])).key
  keys["usage"] = (await mint("usage", ["usage:read"])).key
  keys["events"] = (await mint("events", ["events:read"])).key
  keys["ingest"] = (await governor.ingestKeys.mint({ name: "ingest", org_unit: "ops" })).key
  const revoked = await mint("revoked", ["*"])
  await governor.platformKeys.revoke(revoked.id)
  keys["revoked"] = revoked.key
})
afterAll(() => governor.close())

const pathOf = ({ params, path }: AnyEndpoint): string =>
  Object.entries(params as { readonly [name: string]: Param<unknown> }).reduce(
    (at, [name, { example }]) => at.replace(`{${name}}`, example),
    path
  )

interface Sent {
  readonly method?: string
  readonly query?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: BodyInit
}
const send = async (row: AnyEndpoint, { body, headers = {}, method = row.method, query = "" }: Sent) => {
  const all = { authorization: `Bearer ${keys["all"]}`, ...headers }
  const init = body === undefined ? { method, headers: all } : { method, headers: all, body }
  const response = await api.fetch(new Request(`http://host.example${pathOf(row)}${query}`, init))
  const text = await response.text()
  return { response, json: text === "" ? null : (JSON.parse(text) as any) }
}

/** Sends a request that is refused with this status and code, in document 2's form; nothing of it is kept. */
const refused = async (row: AnyEndpoint, sent: Sent, status: number, code: string): Promise<any> => {
  const before = (await governor.chain.head()).tree_size
  const { json, response } = await send(row, sent)
  const said = `${row.id} ${JSON.stringify(sent).slice(0, 200)} ${JSON.stringify(json)}`
  assert.deepStrictEqual([response.status, json?.error?.code], [status, code], said)
  assert.containsAllKeys(json.error, ["code", "message", "type", "param", "request_id"], said)
  assert.strictEqual(json.error.request_id, response.headers.get("x-request-id"), said)
  for (const name of ["limit", "remaining", "reset"])
    assert.match(response.headers.get(`x-ratelimit-${name}`) ?? "", /^\d+$/, said)
  assert.notMatch(json.error.message, /\n|SQL|node_modules/, said)
  assert.strictEqual((await governor.chain.head()).tree_size, before, said)
  return json.error
}

const json = (body: BodyInit): Sent => ({ body, headers: { "content-type": "application/json" } })

describe.each(rows)("$method $path", (row) => {
  it("is refused to who has no key of this API, or not its scope", async () => {
    const bearers = ["", "nonsense", "fb_live_0", keys["revoked"]!, keys["ingest"]!, `${keys["all"]}x`]
    // Each address has 20 of them a minute; this one is the test's.
    for (const bearer of row === rows[0] ? bearers : bearers.slice(3, 4)) {
      const { json, response } = await send(row, { headers: { authorization: `Bearer ${bearer}` } })
      assert.include([401, 429], response.status)
      if (response.status === 401) assert.strictEqual(json.error.code, "invalid_api_key", bearer)
    }
    const other = row.access.scope === "usage:read" ? "events" : "usage"
    await refused(row, { headers: { authorization: `Bearer ${keys[other]}` } }, 403, "permission_denied")
    if (row.access.roles.includes("auditor")) return
    await refused(row, { headers: { authorization: "", "x-role": "auditor" } }, 403, "permission_denied")
  })

  it("refuses another method, and a body that is no JSON, or too large or too deep", async () => {
    const methods = rows.filter(({ path }) => path === row.path).map(({ method }) => method)
    if (!methods.includes("DELETE")) await refused(row, { method: "DELETE" }, 405, "method_not_allowed")
    if (row.method === "GET") return
    await refused(row, { body: "x", headers: { "content-type": "application/x-none" } }, 415, "unsupported_media_type")
    for (const body of [
      "{",
      "[1,",
      "\\u0000",
      '{"a":1,"a":2}',
      `${"[".repeat(200)}${"]".repeat(200)}`,
      "\ufeff\ufeff{}"
    ])
      await refused(row, json(body), 400, "invalid_request")
    const limit = row.body?.limitBytes ?? 1_048_576
    if (limit <= 2_097_152) await refused(row, json(`"${"x".repeat(limit)}"`), 413, "payload_too_large")
  })

  it("refuses a body of the wrong type, and names its first field", async () => {
    if (row.body === null) return
    for (const body of ["null", "[]", '"x"', "1", "true"]) {
      if (row.body.optional && body === "null") continue
      await refused(row, json(body), 400, "invalid_request")
    }
    const { fields } = row.body.schema as { readonly fields: object }
    for (const name of Object.keys(fields)) {
      const wrong = json(JSON.stringify({ [name]: name === "inputs" ? ["this"] : { not: ["this"] } }))
      const { param } = await refused(row, wrong, 400, "invalid_request")
      assert.isTrue(
        Object.keys(fields).some((field) => param === null || String(param).startsWith(field)),
        `${row.id} ${name} ${param}`
      )
    }
  })

  it("refuses wrong parameters, another's unit and ids of nobody", async () => {
    const names: ReadonlyArray<string> = row.query?.names ?? []
    const wrong: { readonly [name: string]: ReadonlyArray<string> } = {
      limit: ["0", "101", "-1", "abc", "1.5", ""],
      cursor: ["x", "*", "e30"],
      sort: ["name", "-", "created_at,-id"],
      created_after: ["yesterday", "2026-11-01", "2026-11-01T00:00:00"],
      created_before: ["never"],
      org_unit: ["other", "*", ""]
    }
    const needed = row.body === null ? {} : { body: "{}", headers: { "content-type": "application/json" } }
    for (const name of names)
      for (const value of wrong[name] ?? []) {
        if (name === "org_unit" && row.body !== null && !row.body.optional) continue
        // A cursor is checked by the list, after the thing that it is of.
        if (name === "cursor" && Object.keys(row.params).length > 0) continue
        const error = await refused(
          row,
          { ...needed, query: `?${name}=${encodeURIComponent(value)}` },
          400,
          "invalid_request"
        )
        assert.strictEqual(error.param, name, `${row.id} ${value}`)
      }
    if (Object.keys(row.params).length === 0) return
    if (row.body === null || row.body.optional) await refused(row, needed, 404, "not_found")
  })
})

it("an unknown path, and one with a wrong id, are 404 in the same form", async () => {
  const [first] = rows
  for (const path of ["/v1", "/v1/", "/v1/none", "/v1/webhooks/none", "/v1/webhooks/%00", "/V1/usage/x"])
    await refused({ ...first!, path, params: {} }, { method: "GET" }, 404, "not_found")
})
