/** Monitoring as callers of `/v1` see it: wrong input, repeats, plans, org units, lists and events. */
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterEach, assert, beforeEach, it } from "vitest"
import { platform } from "../index.ts"

let governor: Governor
let api: HttpApi
let key: string
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
  api = openHttp(governor)
  key = await keyOf("enterprise")
})
afterEach(() => governor.close())

const keyOf = async (plan: "free" | "starter" | "enterprise", org_unit = "ops") =>
  (await governor.platformKeys.mint({ name: "k", org_unit, plan, scopes: ["*"] })).key

interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly as?: string
}
const send = async (path: string, { as = key, body, headers = {}, method }: Sent = {}) => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const response = await api.fetch(
    new Request(`http://host.example/v1/${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${as}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: text })
    })
  )
  return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) as any }
}
const monitor = (more: object = {}) => ({
  name: "errors",
  model_id: "fraud",
  metric: "error_rate",
  comparator: "above",
  threshold: 0.2,
  min_samples: 5,
  clear_s: 0,
  ...more
})
const inferences = (count: number, of: (at: number) => object = () => ({})) => ({
  inferences: Array.from({ length: count }, (_, at) => ({
    model_id: "fraud",
    inference_id: `i${at}`,
    at: new Date().toISOString(),
    prediction: "ok",
    ...of(at)
  }))
})
const create = async (more: object = {}, as = key): Promise<string> => {
  const { json, status } = await send("monitoring/monitors", { body: monitor(more), as })
  assert.strictEqual(status, 201, JSON.stringify(json))
  return json.id
}

it("opens an alert and ends it under one id, in lists and in events of exactly the specified members", async () => {
  const id = await create()
  const taken = await send("monitoring/inferences", { body: inferences(10, (at) => ({ error: at < 5 })) })
  assert.deepStrictEqual(taken.json, { accepted: 10, monitors: [{ id, state: "triggered" }] })
  const open = await send("monitoring/alerts?status=triggered&sort=-created_at")
  const [alert] = open.json.data
  assert.deepInclude(alert, { monitor_id: id, model_id: "fraud", value: 0.5, threshold: 0.2, status: "triggered" })
  await send("monitoring/inferences", { body: inferences(100) })
  assert.deepStrictEqual((await send("monitoring/alerts?status=triggered")).json.data, [])
  const resolved = (await send(`monitoring/alerts?status=resolved&created_after=2020-01-01T00:00:00Z`)).json.data
  assert.deepStrictEqual([resolved.length, resolved[0].id, resolved[0].resolved_because], [1, alert.id, "recovered"])
  const before = `monitoring/alerts?created_before=${encodeURIComponent(alert.created_at)}`
  assert.deepStrictEqual((await send(before)).json.data, [])
  const [ended, began] = (await send("events")).json.data
  const members = ["id", "message", "metric", "model_id", "monitor_id", "severity", "threshold", "value"]
  assert.deepStrictEqual([began.type, Object.keys(began.data).sort()], ["alert.triggered", members])
  assert.deepStrictEqual(
    [ended.type, Object.keys(ended.data).sort()],
    ["alert.resolved", ["duration_ms", ...members, "resolved_at"].sort()]
  )
  assert.strictEqual(ended.data.id, began.data.id)
})

it("misses a feature that has the name of a method of objects", async () => {
  const id = await create({ metric: "missing_rate", field: "features.constructor" })
  const of = (at: number) => ({ features: at < 4 ? { constructor: "Lotus" } : { driver: "Clark" } })
  await send("monitoring/inferences", { body: inferences(10, of) })
  assert.strictEqual((await send(`monitoring/monitors/${id}`)).json.value_now, 0.6)
})

it("counts a call once under its Idempotency-Key, and refuses wrong ones whole", async () => {
  const id = await create()
  const body = inferences(10)
  const headers = { "idempotency-key": "call-1" }
  const [first, second] = [
    await send("monitoring/inferences", { body, headers }),
    await send("monitoring/inferences", { body, headers })
  ]
  assert.deepStrictEqual([second.status, second.json], [201, first.json])
  assert.strictEqual(second.headers.get("idempotent-replayed"), "true")
  const far = new Date(Date.now() - 90_000_000).toISOString()
  const wrong: ReadonlyArray<readonly [unknown, string]> = [
    [inferences(0), "inferences"],
    [inferences(1_001), "inferences"],
    [inferences(3, (at) => (at === 2 ? { at: far } : {})), "inferences[2].at"],
    [inferences(3, (at) => (at === 1 ? { at: "yesterday" } : {})), "inferences[1].at"],
    [inferences(1, () => ({ score: "NaN" })), "inferences[0].score"],
    [inferences(1, () => ({ score: 1e9 })), "inferences[0].score"],
    [inferences(1, () => ({ latency_ms: -1 })), "inferences[0].latency_ms"],
    [inferences(1, () => ({ features: { "a b": 1 } })), "inferences[0].features"],
    [inferences(1, () => ({ prediction: undefined })), "inferences[0].prediction"]
  ]
  for (const [body, param] of wrong) {
    const { json, status } = await send("monitoring/inferences", { body })
    assert.deepStrictEqual([status, json.error.code, json.error.param], [400, "invalid_request", param])
  }
  const nan = JSON.stringify(inferences(1, () => ({ score: 0.5 }))).replace("0.5", "NaN")
  assert.strictEqual((await send("monitoring/inferences", { body: nan })).json.error.code, "invalid_request")
  assert.strictEqual((await send(`monitoring/monitors/${id}`)).json.samples, 10)
})

it("is of one org unit, and has as many monitors as its plan", async () => {
  const starter = await keyOf("starter")
  const ids: Array<string> = []
  for (let at = 0; at < 5; at++) ids.push(await create({}, starter))
  const sixth = await send("monitoring/monitors", { body: monitor(), as: starter })
  assert.deepStrictEqual([sixth.status, sixth.json.error.code], [403, "plan_limit_reached"])
  const free = await send("monitoring/monitors", { body: monitor(), as: await keyOf("free") })
  assert.deepStrictEqual([free.status, free.json.error.code], [403, "plan_limit_reached"])
  const other = await keyOf("starter", "sales")
  for (const method of ["GET", "DELETE"]) {
    const { json, status } = await send(`monitoring/monitors/${ids[0]}`, { as: other, method })
    assert.deepStrictEqual([status, json.error.code], [404, "not_found"])
  }
  // Inferences of another org unit's model of the same name are not counted here.
  await send("monitoring/inferences", { body: inferences(10, () => ({ error: true })), as: other })
  assert.strictEqual((await send(`monitoring/monitors/${ids[0]}`)).json.state, "no_data")
  assert.strictEqual((await send(`monitoring/monitors/${ids[0]}`, { method: "DELETE" })).json.state, "deleted")
  assert.strictEqual((await send("monitoring/monitors")).json.data.length, 4)
  await create({}, starter)
})
