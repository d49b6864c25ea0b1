/** Plans of routes as callers of `/v1` meet them. */
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
const at = (time: string): string => `2026-11-30T${time}:00+01:00`
const depot = { latitude: 52.52, longitude: 13.4 }
const van = {
  id: "van",
  start: depot,
  end: depot,
  capacity: [10],
  shift: { start: at("08:00"), end: at("16:00") }
}
const north = { id: "north", location: { latitude: 52.55, longitude: 13.4 }, demand: [6], service_seconds: 300 }
const south = {
  ...north,
  id: "south",
  location: { latitude: 52.49, longitude: 13.4 },
  time_windows: [{ start: at("10:00"), end: at("10:30") }]
}
const heavy = { ...north, id: "heavy", demand: [11] }
const two = { vehicles: [van, { ...van, id: "bike" }], jobs: [north, south, heavy], seed: "s", max_seconds: 1 }

it("plans routes, shows them, lists them, tells the org unit, and replays", async () => {
  const { json: plan, response } = await send("/fleet/routes/optimize?wait=10", two)
  assert.strictEqual(response.status, 201)
  assert.deepInclude(plan, { status: "completed", vehicles: 2, jobs: 3, distance_source: "great_circle" })
  assert.deepInclude(plan.totals, { vehicles: 2, stops: 2, unassigned: 1 })
  assert.deepStrictEqual(plan.unassigned, [{ job: "heavy", reason: "capacity" }])
  const stop = plan.routes.flatMap(({ stops }: any) => stops).find(({ job }: any) => job === "south")
  assert.deepStrictEqual([stop.begin, stop.load], ["2026-11-30T09:00:00.000Z", [6]])
  // 3.34 km there and back, twice, and 1.3 times that.
  assert.closeTo(plan.totals.metres, 4 * 3_336 * 1.3, 30)
  assert.strictEqual(plan.search.seed, "s")
  const { data } = (await send("/fleet/plans?status=completed")).json
  assert.deepStrictEqual([data.length, data[0].id, data[0].routes], [1, plan.id, undefined])
  const [event] = (await send("/events?type=routes.completed")).json.data
  assert.deepInclude(event.data, { id: plan.id, vehicles: 2, stops: 2, unassigned: 1, metres: plan.totals.metres })
  assert.strictEqual((await send(`/fleet/plans/${plan.id}`, undefined, {}, "hr")).response.status, 404)
  assert.deepStrictEqual((await send(`/fleet/plans/${plan.id}`)).json, plan)
})

it("refuses what cannot be planned, and names the place", async () => {
  const [v, j] = [{ id: "v" }, { id: "j", location: depot }]
  const matrix = (metres: unknown, seconds: unknown = metres) => ({ metres, seconds })
  const onMatrix = { vehicles: [v], jobs: [{ ...j, location: 1 }] }
  const span = (start: string, end: string) => ({ start: at(start), end: at(end) })
  const many = (count: number) => Array.from({ length: count }, (_, one) => ({ id: `v${one}` }))
  const { tree_size: before } = await governor.chain.head()
  for (const [param, body] of [
    ["vehicles", { vehicles: many(1_001), jobs: [j] }],
    ["vehicles[1].id", { vehicles: [v, v], jobs: [j] }],
    ["jobs[1].id", { vehicles: [v], jobs: [j, j] }],
    ["vehicles[0].shift", { vehicles: [{ ...v, shift: span("10:00", "09:00") }], jobs: [j] }],
    ["jobs[0].time_windows[0]", { vehicles: [v], jobs: [{ ...j, time_windows: [span("10:00", "09:00")] }] }],
    [
      "jobs[0].time_windows[1]",
      { vehicles: [v], jobs: [{ ...j, time_windows: [span("10:00", "11:00"), span("10:30", "12:00")] }] }
    ],
    ["jobs[0].location", { vehicles: [v], jobs: [{ ...j, location: 1 }] }],
    ["jobs[0].location.latitude", { vehicles: [v], jobs: [{ ...j, location: { latitude: 91, longitude: 0 } }] }],
    ["jobs[0].vehicle", { vehicles: [v], jobs: [{ ...j, vehicle: "gone" }] }],
    ["jobs[0].demand", { vehicles: [v], jobs: [{ ...j, demand: [1] }] }],
    ["vehicles[1].capacity", { vehicles: [{ ...v, capacity: [1] }, { id: "w" }], jobs: [j] }],
    ["matrix.metres[1]", { ...onMatrix, matrix: matrix([[0, 1], [1]]) }],
    [
      "matrix.seconds",
      {
        ...onMatrix,
        matrix: matrix(
          [
            [0, 1],
            [1, 0]
          ],
          [[0, 1]]
        )
      }
    ],
    [
      "matrix.metres[0][1]",
      {
        ...onMatrix,
        matrix: matrix([
          [0, -1],
          [1, 0]
        ])
      }
    ],
    [
      "matrix.metres[1][0]",
      {
        ...onMatrix,
        matrix: matrix([
          [0, 1],
          [Number.NaN, 0]
        ])
      }
    ],
    [
      "jobs[0].location",
      {
        vehicles: [v],
        jobs: [j],
        matrix: matrix([
          [0, 1],
          [1, 0]
        ])
      }
    ],
    ["max_seconds", { vehicles: [v], jobs: [j], max_seconds: 61 }]
  ] as const) {
    const { json, response } = await send("/fleet/routes/optimize", body)
    assert.deepStrictEqual([response.status, json.error.code], [400, "invalid_request"], param)
    assert.isTrue(json.error.param.startsWith(param), `${json.error.param} is not ${param}`)
  }
  assert.strictEqual((await send("/fleet/routes/optimize?wait=11", two)).json.error.param, "wait")
  assert.strictEqual((await governor.chain.head()).tree_size, before)
  assert.deepStrictEqual((await send("/fleet/plans?status=queued")).json.data, [])
})

it("takes a matrix that is not symmetric, and what no vehicle can do", async () => {
  const matrix = {
    metres: [
      [0, 100],
      [900, 0]
    ],
    seconds: [
      [0, 10],
      [90, 0]
    ]
  }
  const jobs = [{ id: "j", location: 1 }]
  const { json: plan } = await send("/fleet/routes/optimize?wait=10", {
    vehicles: [{ id: "v", start: 0, end: 0, costs: { fixed: 7, per_km: 2 } }],
    jobs,
    matrix,
    max_seconds: 1
  })
  assert.deepInclude(plan, { distance_source: "matrix" })
  assert.deepInclude(plan.totals, { metres: 1_000, driving_seconds: 100, cost: 9 })
  const short = { vehicles: [{ id: "v", start: 0, end: 0, max_metres: 999 }], jobs, matrix, max_seconds: 1 }
  const { json: none } = await send("/fleet/routes/optimize?wait=10", short)
  assert.deepStrictEqual([none.routes, none.unassigned], [[], [{ job: "j", reason: "distance" }]])
})

it("a dispatch names its agent, and needs routes", async () => {
  const { json: plan } = await send("/fleet/routes/optimize?wait=10", two, { "idempotency-key": "p" })
  const path = `/fleet/plans/${plan.id}/dispatch`
  const nobody = await send(path, {})
  assert.deepStrictEqual([nobody.response.status, nobody.json.error.param], [400, "X-Flyball-Agent"])
  const unknown = await send(path, {}, { "x-flyball-agent": `agt_${"0".repeat(26)}` })
  assert.strictEqual(unknown.response.status, 404)
  const over = await send(`/fleet/plans/${plan.id}/cancel`, {})
  assert.deepStrictEqual([over.response.status, over.json.error.status], [409, "completed"])
  const again = await send("/fleet/routes/optimize?wait=10", two, { "idempotency-key": "p" })
  assert.deepStrictEqual([again.json.id, again.json.status], [plan.id, "queued"])
})
