/** Fairness analyses as callers of `/v1` meet them. What they compute: `property-tests/src/fairness`. */
import { setImmediate as turn } from "node:timers/promises"
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterAll, assert, beforeAll, it } from "vitest"
import { platform } from "../index.ts"

let governor: Governor
let api: HttpApi
const keys: { [unit: string]: string } = {}
beforeAll(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
  api = openHttp(governor)
  for (const org_unit of ["ops", "hr"])
    keys[org_unit] = (await governor.platformKeys.mint({ name: "k", org_unit, plan: "custom", scopes: ["*"] })).key
})
afterAll(() => governor.close())

const send = async (path: string, body?: unknown, more: { readonly [name: string]: string } = {}, unit = "ops") => {
  const headers = { authorization: `Bearer ${keys[unit]}`, "content-type": "application/json", ...more }
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) }
  const response = await api.fetch(new Request(`http://host.example/v1${path}`, init))
  const text = await response.text()
  return { response, text, json: text.startsWith("{") ? (JSON.parse(text) as any) : null }
}
const rows = Array.from({ length: 80 }, (_, at) => ({ race: at < 40 ? "a" : "b", pass: at % (at < 40 ? 2 : 5) === 0 }))
const dataset = { rows, prediction: "pass", protected: ["race"] }

it("an analysis is answered at once, listed, sent as an event, and repeated under its key", async () => {
  const key = { "idempotency-key": "k1" }
  const made = await send("/fairness/analyze", { model_id: "m1", dataset }, key)
  assert.strictEqual(made.response.status, 201)
  assert.deepInclude(made.json, { status: "completed", overall_score: 1 - 0.3, bias_detected: true })
  assert.deepStrictEqual(made.json.metrics_summary.equalized_odds, null)
  assert.include(made.response.headers.get("ratelimit") ?? "", '"operation:fairness.analyze";r=99')
  assert.strictEqual((await send("/fairness/analyze", { model_id: "m1", dataset }, key)).text, made.text)
  await send("/fairness/analyze", { model_id: "m2", dataset: { ...dataset, rows: rows.slice(0, 40) } })
  const { data } = (await send("/fairness/analyses?model_id=m1&limit=5")).json
  assert.deepStrictEqual(
    data.map(({ id }: { id: string }) => id),
    [made.json.id]
  )
  const [failed, completed] = (await send("/events")).json.data
  assert.deepStrictEqual([failed.type, failed.data.error.code], ["analysis.failed", "no_metric"])
  assert.deepStrictEqual(completed.data, {
    id: made.json.id,
    model_id: "m1",
    overall_score: 0.7,
    bias_detected: true,
    metrics_summary: { demographic_parity: made.json.metrics_summary.demographic_parity },
    report_url: made.json.report_url
  })

  const report = await send("/fairness/reports", { analysis_id: made.json.id })
  assert.strictEqual(report.response.status, 201)
  assert.deepStrictEqual((await send(`/fairness/reports/${report.json.id}`)).json, report.json)
  const page = await send(report.json.page_url.slice(3))
  assert.strictEqual(page.response.headers.get("content-type"), "text/html; charset=utf-8")
  assert.include(page.text, "20/40")
  const late = await send("/fairness/reports", { analysis_id: failed.data.id })
  assert.deepStrictEqual([late.response.status, late.json.error.code], [409, "analysis_not_completed"])
  assert.strictEqual((await send(`/fairness/reports/rpt${failed.data.id.slice(3)}`)).response.status, 404)
  assert.strictEqual((await send(`/fairness/analyses/${made.json.id}`, undefined, {}, "hr")).response.status, 404)
})

it("a large data set is answered as running, and completed in the background", async () => {
  const columns = {
    pass: Array.from({ length: 24_000 }, (_, row) => rows[row % 80]!.pass),
    race: Array.from({ length: 24_000 }, (_, row) => rows[row % 80]!.race)
  }
  const large = { columns, prediction: "pass", protected: ["race"] }
  const { json: running } = await send("/fairness/analyze", { model_id: "m4", dataset: large })
  assert.deepInclude(running, { status: "running", overall_score: null, report_url: null })
  for (;;) {
    const { json } = await send(`/fairness/analyses/${running.id}`)
    if (json.status === "running") {
      await turn()
      continue
    }
    assert.deepInclude(json, { status: "completed", overall_score: 0.7, created_at: running.created_at })
    return
  }
})

it("a data set that cannot be read is refused with its place, and a body that is too large whole", async () => {
  const refused = async (of: object) => {
    const { json, response } = await send("/fairness/analyze", { model_id: "m3", dataset: { ...dataset, ...of } })
    return [response.status, json.error.code, json.error.param]
  }
  const { tree_size: before } = await governor.chain.head()
  assert.deepStrictEqual(await refused({ rows: [...rows, { race: "a" }] }), [
    400,
    "invalid_request",
    "dataset.rows[80].pass"
  ])
  assert.deepStrictEqual(await refused({ label: "y" }), [400, "invalid_request", "dataset.label"])
  assert.deepStrictEqual(await refused({ rows: "x" }), [400, "invalid_request", "dataset.rows"])
  assert.deepStrictEqual(await refused({ rows: [{ race: "x".repeat(17_000_000), pass: 1 }] }), [
    413,
    "payload_too_large",
    null
  ])
  assert.strictEqual((await governor.chain.head()).tree_size, before)
  const { json } = await send("/fairness/explain", { model_id: "m3", dataset: { ...dataset, features: ["gone"] } })
  assert.strictEqual(json.error.param, "dataset.features[0]")
})

it("an explanation that would count for minutes is refused with the number of rows that it may have", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `f${at}`)
  const of = Object.fromEntries(
    ["pass", "race", ...names].map((name) => [name, Array.from({ length: 1_300 }, () => 1)])
  )
  of["race"]![0] = 2
  const body = { model_id: "m5", dataset: { columns: of, prediction: "pass", protected: ["race"], features: names } }
  const { json, response } = await send("/fairness/explain", { ...body, samples: 1_000 })
  assert.deepStrictEqual([response.status, json.error.param], [400, "dataset"])
  assert.include(json.error.message, "at most 1280 rows")
  assert.strictEqual((await send("/fairness/explain", { ...body, samples: 10 })).json.orders, 20)
})
