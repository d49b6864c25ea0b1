/** A product's row under `/v1`: its own limit, its cost, its scope, its end, and calls at once. Spec: document 2. */
import { endpoint, json, jsonBody, platformAccess } from "@flyball/contract/http"
import { type Capability, defineModule, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { Effect, Layer, Schema } from "effect"
import { afterEach, assert, beforeEach, it } from "vitest"

const rows = {
  analyze: endpoint({
    id: "trial.analyze",
    method: "POST",
    path: "/v1/trial/analyze",
    summary: "Analyzes.",
    access: platformAccess("fairness:write"),
    platform: {
      module: "trial",
      operation: "fairness.analyze",
      cost: ({ units }: { readonly units: number }) => units,
      sunset: { deprecatedAt: "2026-12-01T00:00:00Z", endsAt: "2027-12-01T00:00:00Z" }
    },
    body: jsonBody(Schema.Struct({ model_id: Schema.String, units: Schema.Int })),
    success: json(200, Schema.Struct({ model_id: Schema.String }))
  }),
  hold: endpoint({
    id: "trial.hold",
    method: "POST",
    path: "/v1/trial/hold",
    summary: "Waits until it is released.",
    access: platformAccess("fairness:read"),
    platform: { module: "trial" },
    success: json(200, Schema.Struct({ waited: Schema.Boolean }))
  }),
  wait: endpoint({
    id: "trial.wait",
    method: "GET",
    path: "/v1/trial/wait",
    summary: "Waits until its caller is gone.",
    access: platformAccess("fairness:read"),
    platform: { module: "trial" },
    success: json(200, Schema.Struct({ waited: Schema.Boolean }))
  })
}

const waiting = { calls: 0, released: Promise.withResolvers<void>() }
const trial: Capability = {
  name: "trial",
  modules: [
    defineModule({
      name: "trial",
      rows,
      operations: {
        analyze: ({ body: { model_id } }) => Effect.succeed({ model_id }),
        hold: () =>
          Effect.promise(async () => {
            waiting.calls++
            await waiting.released.promise
            return { waited: true }
          }),
        wait: () =>
          Effect.suspend(() => {
            waiting.calls++
            return Effect.never
          })
      },
      layer: Layer.empty
    })
  ]
}

let governor: Governor
let api: HttpApi
beforeEach(async () => {
  waiting.calls = 0
  waiting.released = Promise.withResolvers()
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [trial] })
  api = openHttp(governor)
})
afterEach(() => governor.close())

const keyOf = async (plan: "free" | "enterprise", scope: "*" | "fairness:read" = "*") =>
  (await governor.platformKeys.mint({ name: "k", org_unit: "ops", plan, scopes: [scope] })).key
const ask = async (key: string, body: unknown, init: RequestInit = {}) => {
  const response = await api.fetch(
    new Request("http://host.example/v1/trial/analyze", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      ...init
    })
  )
  return { status: response.status, headers: response.headers, json: (await response.json()) as any }
}

it("an operation's limit counts costs, for each of its subjects, of what its checks let pass", async () => {
  const key = await keyOf("enterprise")
  const ok = await ask(key, { model_id: "a", units: 60, more: "is ignored" })
  assert.deepStrictEqual([ok.status, ok.json], [200, { model_id: "a" }])
  assert.strictEqual(ok.headers.get("deprecation"), `@${Date.parse("2026-12-01T00:00:00Z") / 1_000}`)
  assert.strictEqual(ok.headers.get("sunset"), "Wed, 01 Dec 2027 00:00:00 GMT")
  assert.deepStrictEqual(
    [ok.headers.get("x-ratelimit-limit"), ok.headers.get("x-ratelimit-remaining")],
    ["100", "40"],
    "the policy with the least left binds"
  )
  const wrong = await ask(key, { model_id: "a", units: "x" })
  assert.deepStrictEqual([wrong.status, wrong.json.error.param], [400, "units"])
  const over = await ask(key, { model_id: "a", units: 41 })
  assert.deepStrictEqual([over.status, over.json.error.reason], [429, "operation:fairness.analyze"])
  assert.strictEqual((await ask(key, { model_id: "a", units: 40 })).status, 200, "what was refused took nothing")
  assert.strictEqual((await ask(key, { model_id: "b", units: 60 })).status, 200, "each model has a limit")
  const never = await ask(key, { model_id: "c", units: 101 })
  assert.deepStrictEqual([never.status, never.json.error.code], [400, "invalid_request"])
})

it("a wrong body, media type or scope is refused in the form of document 2", async () => {
  const key = await keyOf("enterprise")
  const codeOf = async (init: RequestInit, of = key) => {
    const { json, status } = await ask(of, {}, init)
    return [status, json.error.code, json.error.param]
  }
  const headers = { authorization: `Bearer ${key}` }
  assert.deepStrictEqual(await codeOf({}), [400, "invalid_request", "model_id"])
  assert.deepStrictEqual(await codeOf({ body: "{" }), [400, "invalid_request", null])
  assert.deepStrictEqual(await codeOf({ headers, body: "x" }), [415, "unsupported_media_type", null])
  assert.deepStrictEqual(await codeOf({ body: `"${"x".repeat(1_100_000)}"` }), [413, "payload_too_large", null])
  assert.deepStrictEqual(await codeOf({}, await keyOf("enterprise", "fairness:read")), [403, "permission_denied", null])
})

it("no more calls run at once than the plan allows, and one that its caller leaves gives its place back", async () => {
  const key = await keyOf("free")
  const leave = new AbortController()
  const wait = () =>
    api.fetch(
      new Request("http://host.example/v1/trial/wait", {
        headers: { authorization: `Bearer ${key}` },
        signal: leave.signal
      })
    )
  const held = [wait(), wait()].map((one) => one.catch(() => "left"))
  while (waiting.calls < 2) await new Promise(setImmediate)
  const third = await wait()
  assert.strictEqual(third.status, 429)
  assert.deepStrictEqual(
    ["x-ratelimit-reason", "retry-after"].map((name) => third.headers.get(name)),
    ["concurrency", "1"]
  )
  leave.abort()
  assert.deepStrictEqual(await Promise.all(held), ["left", "left"])
  const after = await ask(key, { model_id: "a", units: 1 })
  assert.strictEqual(after.status, 200)
})

it("a call with a key that its caller leaves goes on, and keeps its place until it ends", async () => {
  const key = await keyOf("free")
  const leave = new AbortController()
  const hold = (name: string, signal?: AbortSignal) =>
    api.fetch(
      new Request("http://host.example/v1/trial/hold", {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "idempotency-key": name },
        ...(signal === undefined ? {} : { signal })
      })
    )
  const held = ["a", "b"].map((name) => hold(name, leave.signal).catch(() => "left"))
  while (waiting.calls < 2) await new Promise(setImmediate)
  leave.abort()
  assert.deepStrictEqual(await Promise.all(held), ["left", "left"])
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  assert.strictEqual((await hold("c")).status, 429, "both still run")
  waiting.released.resolve()
  let repeated = await hold("a")
  for (let turn = 0; repeated.status !== 200 && turn < 1_000; turn++) {
    await new Promise(setImmediate)
    repeated = await hold("a")
  }
  assert.deepStrictEqual([repeated.status, repeated.headers.get("idempotent-replayed")], [200, "true"])
  assert.strictEqual(waiting.calls, 2)
})
