/** The platform API as its callers see it: order of checks, headers, errors, limits, keys. Spec: document 2. */
import type { PlatformKeyInput } from "@flyball/contract"
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { platform } from "./index.ts"

let governor: Governor
let api: HttpApi
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
  const people = { ada: ["*"], bea: ["ops"], cas: ["ops", "shop"], dee: ["ops", "shop"] }
  api = openHttp(governor, {
    authentication: {
      authenticate: ({ headers }) => {
        const subject = headers.get("x-user") as keyof typeof people | null
        if (subject === null) return null
        const role = subject === "dee" ? ("reviewer" as const) : ("auditor" as const)
        return { subject, grants: people[subject].map((org_unit) => ({ role, org_unit })) }
      }
    }
  })
})
afterEach(() => governor.close())

const mint = async (more: Partial<PlatformKeyInput> = {}) =>
  governor.platformKeys.mint({ name: "shop", org_unit: "ops", plan: "free", scopes: ["*"], ...more })
const send = async (path: string, headers: { readonly [name: string]: string } = {}, method = "GET") => {
  const response = await api.fetch(new Request(`http://host.example${path}`, { method, headers }))
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text === "" ? null : JSON.parse(text) }
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const limitOf = ({ headers }: { readonly headers: Headers }) =>
  ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`)))

describe("/v1", () => {
  it("answers usage and limits of a key, and says what is left on every answer", async () => {
    const { key } = await mint()
    const usage = await send("/v1/usage", bearer(key))
    assert.match(usage.json.period, /^\d{4}-\d\d$/)
    assert.deepStrictEqual(
      { ...usage.json, period: null },
      {
        period: null,
        documents_processed: 0,
        documents_limit: 0,
        tokens_used: 0,
        tokens_limit: 0,
        storage_used_gb: 0,
        storage_limit_gb: 0
      }
    )
    assert.deepStrictEqual(limitOf(usage).slice(0, 2), [20, 19])
    const { json } = await send("/v1/limits", bearer(key))
    assert.deepInclude(json, { plan: "free", concurrent: 2, concurrent_runs: 10 })
    assert.deepInclude(json.requests[0], { name: "plan-minute", limit: 20, window: 60, remaining: 18 })
    assert.deepInclude(json.operations[0], { operation: "fairness.analyze", limit: 100, per: "model_id" })
  })

  it("says limits and a fresh id on each kind of answer: 200, 204, 400, 401, 403, 404, 405", async () => {
    const { key } = await mint({ scopes: ["events:read"] })
    const { key: all } = await mint()
    const answers = [
      await send("/v1/limits", bearer(all)),
      await send("/v1/limits", {}, "OPTIONS"),
      await send("/v1/usage?org_unit=elsewhere", bearer(all)),
      await send("/v1/limits"),
      await send("/v1/limits", bearer(key)),
      await send("/v1/nothing", bearer(all)),
      await send("/v1/limits", bearer(all), "DELETE")
    ]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 204, 400, 401, 403, 404, 405]
    )
    for (const answer of answers) {
      const [limit, remaining, reset] = limitOf(answer)
      assert.isTrue(limit! > 0 && remaining! >= 0 && remaining! <= limit! && reset! > 0, String(answer.status))
      assert.match(answer.headers.get("ratelimit") ?? "", /r=\d+/)
      assert.match(answer.headers.get("x-request-id") ?? "", /^req_[0-9a-z]{26}$/)
      if (answer.status >= 400) assert.strictEqual(answer.json.error.request_id, answer.headers.get("x-request-id"))
    }
    assert.strictEqual(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size, answers.length)
    assert.strictEqual(answers[2]!.json.error.param, "org_unit")
    assert.strictEqual(answers[3]!.headers.get("www-authenticate"), "Bearer")
  })

  it("refuses the request after the last one of the minute, truly, and counts it nowhere", async () => {
    const { key } = await mint()
    for (let n = 0; n < 20; n++) assert.strictEqual((await send("/v1/nothing", bearer(key))).status, 404)
    const over = await send("/v1/limits", bearer(key))
    assert.strictEqual(over.status, 429)
    assert.deepInclude(over.json.error, {
      code: "rate_limit_exceeded",
      type: "rate_limit_error",
      reason: "plan-minute"
    })
    assert.strictEqual(over.headers.get("x-ratelimit-remaining"), "0")
    const wait = Number(over.headers.get("retry-after"))
    assert.isTrue(wait >= 1 && wait <= 61, String(wait))
    const again = await send("/v1/limits", bearer((await mint()).key))
    assert.strictEqual(again.status, 200, "another key has limits of its own")
  })

  it("opens to platform keys and people, to no ingest key, and to no key from its revocation on", async () => {
    const { id, key } = await mint()
    const ingest = await governor.ingestKeys.mint({ name: "ci", org_unit: "ops" })
    assert.strictEqual((await send("/v1/limits", bearer(ingest.key))).status, 401)
    assert.strictEqual((await send("/api/v1/agents", bearer(key))).json.code, "key_not_allowed")
    assert.strictEqual((await send("/v1/limits", { "x-user": "bea" })).json.plan, "enterprise")
    await governor.platformKeys.revoke(id)
    const revoked = await send("/v1/limits", bearer(key))
    assert.deepInclude(revoked.json.error, { code: "invalid_api_key", type: "authentication_error", param: null })
  })

  it("asks a person of several org units for one of them", async () => {
    assert.strictEqual((await send("/v1/usage", { "x-user": "bea" })).status, 200)
    assert.strictEqual((await send("/v1/usage", { "x-user": "cas" })).json.error.param, "org_unit")
    assert.strictEqual((await send("/v1/usage?org_unit=shop", { "x-user": "cas" })).status, 200)
    assert.strictEqual((await send("/v1/usage?org_unit=else", { "x-user": "cas" })).status, 400)
    assert.strictEqual((await send("/v1/usage?org_unit=else", { "x-user": "ada" })).status, 200)
  })

  it("reads the org unit of one thing from it, where a person of several may act there", async () => {
    const post = async (path: string, headers: { readonly [name: string]: string }, body: unknown) => {
      const init = { method: "POST", headers: { ...headers, "content-type": "application/json" } }
      const response = await api.fetch(
        new Request(`http://host.example${path}`, { ...init, body: JSON.stringify(body) })
      )
      return { status: response.status, json: (await response.json()) as any }
    }
    const begun = async (orgUnit: string): Promise<string> => {
      const by = bearer((await mint({ plan: "starter", org_unit: orgUnit })).key)
      const steps = [{ id: "ok", type: "approval", title: "Go on?" }]
      const { json } = await post("/v1/workflows", by, { name: "n", steps })
      return (await post(`/v1/workflows/${json.id}/executions`, by, {})).json.id
    }
    const [own, others] = [await begun("shop"), await begun("else")]
    const [dee, path] = [{ "x-user": "dee" }, `/v1/workflows/executions/${own}`]
    assert.strictEqual((await send(path, { "x-user": "cas" })).json.id, own)
    assert.strictEqual(
      (await post(`${path}/approve`, dee, { approved: true })).json.error.code,
      "execution_not_waiting"
    )
    assert.strictEqual((await post(`${path}/approve?org_unit=ops`, dee, { approved: true })).status, 404)
    const elsewhere = await post(`/v1/workflows/executions/${others}/approve`, dee, { approved: true })
    assert.deepInclude(elsewhere, { status: 400 })
    assert.strictEqual(elsewhere.json.error.param, "org_unit")
    assert.strictEqual((await send(`/v1/workflows/executions/${others}`, { "x-user": "ada" })).status, 200)
  })

  it("ignores parameters that it does not know, and leaves document 1 as it is", async () => {
    const { key } = await mint()
    assert.strictEqual((await send("/v1/limits?more=1", bearer(key))).status, 200)
    const governance = await send("/api/v1/nothing", { "x-user": "ada", "x-request-id": "mine" })
    assert.strictEqual(governance.json.code, "not_found")
    assert.strictEqual(governance.headers.get("x-request-id"), "mine")
    assert.isNull(governance.headers.get("x-ratelimit-limit"))
  })

  it("counts addresses without a valid key, and answers 429 when they come too often", async () => {
    const { key } = await mint({ plan: "growth" })
    for (let n = 0; n < 25; n++) await send("/v1/limits", bearer(key))
    assert.strictEqual((await send("/v1/limits")).status, 401, "requests with a valid key count elsewhere")
    for (let n = 1; n < 20; n++) await send("/v1/limits")
    const over = await send("/v1/limits")
    assert.strictEqual(over.status, 429)
    assert.isTrue(Number(over.headers.get("retry-after")) >= 1)
    assert.strictEqual((await send("/v1/limits", bearer("fb_live_guess"))).status, 429)
    assert.strictEqual((await send("/v1/limits", bearer((await mint()).key))).status, 200)
  })
})
