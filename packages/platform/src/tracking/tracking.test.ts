/** Fences, and positions as callers of `/v1` see them: wrong input, org units, late ones, events. */
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { platform } from "../index.ts"
import { type Course, type CourseState, followCourse, type Place } from "./courses.ts"
import { boxed, metresToFence, outside, stepFence } from "./fences.ts"

describe("fences", () => {
  const circle = { latitude: 52.5, longitude: 13.4, radius_m: 100 }
  const fence = { circle, polygon: null, dwellMs: 30_000, marginM: 50 }
  /** So many metres north of the centre. */
  const at = (metres: number, s: number) => ({ latitude: 52.5 + metres / 111_195, longitude: 13.4, atMs: s * 1_000 })
  const moves = (places: ReadonlyArray<ReturnType<typeof at>>) => {
    let state = outside
    return places.flatMap((place) => {
      const step = stepFence(state, boxed(fence), place)
      state = step.state
      return step.moved ? [`${state.isInside ? "in" : "out"} ${place.atMs / 1_000}`] : []
    })
  }

  it("are entered and left after the dwell, and left beyond the margin alone", () => {
    assert.deepStrictEqual(moves([at(99, 0), at(99, 29), at(99, 30), at(149, 60), at(149, 900)]), ["in 30"])
    assert.deepStrictEqual(moves([at(99, 0), at(99, 30), at(151, 60), at(99, 80), at(151, 90), at(151, 120)]), [
      "in 30",
      "out 120"
    ])
  })

  it("raise one event for a vehicle that stands on the border for an hour", () => {
    const jitter = Array.from({ length: 3_600 }, (_, s) => at(100 + 12 * Math.sin(s * s), s))
    assert.isAtMost(moves(jitter).length, 1)
  })

  it("know their inside over the 180th meridian and at concave corners", () => {
    const corner = (latitude: number, longitude: number) => ({ latitude, longitude })
    const polygon = [corner(-1, 179), corner(-1, -179), corner(1, -179), corner(0, 180), corner(1, 179)]
    assert.isBelow(metresToFence({ circle: null, polygon }, corner(-0.5, 179.9)), 0)
    assert.isBelow(metresToFence({ circle: null, polygon }, corner(-0.5, -179.9)), 0)
    assert.isAbove(metresToFence({ circle: null, polygon }, corner(0.5, 180)), 0)
    assert.closeTo(metresToFence({ circle, polygon: null }, corner(52.51, 13.4)), 1_012, 1)
  })
})

describe("a vehicle with a course", () => {
  /** So many kilometres north and east of the start. */
  const place = (north: number, east = 0): Place => [
    525_000_000 + Math.round(north * 89_932),
    134_000_000 + Math.round(east * 147_731)
  ]
  const places = [place(0), place(10), place(10, 10), place(0)]
  const whole = { vehicleId: "v", places, isOpen: false, fromMs: 0, untilMs: 9_000_000 }
  /** When it left, of positions `[north, east, seconds]` one after the other. */
  const follow = (fixes: ReadonlyArray<readonly [number, number, number]>, course: Partial<Course> = {}) => {
    let state: CourseState | null = null
    const left: Array<number> = []
    for (const [north, east, s] of fixes) {
      const [latitude, longitude] = place(north, east)
      const of = { planId: "p", detour: 1_000, course: { ...whole, ...course } }
      const after = followCourse(state, of, [{ atMs: s * 1_000, latitude, longitude }])
      state = after.state
      left.push(...after.left.map((ms) => ms / 1_000))
    }
    return { left, state: state! }
  }
  const off = [
    [5, -8, 60],
    [5, -8, 359],
    [5, -8, 360],
    [5, -8, 900]
  ] as const

  it("is on plan along its ways, over a place that it passes over, and done at the last one", () => {
    const along = [0, 2, 4, 6, 8, 10].map((north, at) => [north, 0.9, at * 400] as const)
    const { left, state } = follow([
      ...along,
      [10, 9.8, 2_800],
      [5, 5, 3_200],
      [0, 0.1, 3_600],
      [50, 0, 4_000],
      [50, 0, 9_000]
    ])
    assert.deepStrictEqual([left, state.next], [[], 4])
    assert.deepStrictEqual(
      follow([
        [7, 2.2, 0],
        [10, 5, 400],
        [6, 6, 800],
        [0, 0, 1_200]
      ]),
      {
        left: [],
        state: { planId: "p", next: 4, isOn: true, sinceMs: null }
      }
    )
  })

  it("has left after the dwell, once, and again when it was back within the narrower margin", () => {
    assert.deepStrictEqual(follow([[0, 0, 0], ...off]).left, [360])
    assert.deepStrictEqual(follow([[0, 0, 0], ...off.slice(0, 2), [5, 0, 359.5], [5, -8, 360]]).left, [])
    const again = off.map(([north, east, s]) => [north, east, s + 1_000] as const)
    assert.deepStrictEqual(follow([[0, 0, 0], ...off, [5, -3, 901], ...again]).left, [360])
    assert.deepStrictEqual(follow([[0, 0, 0], ...off, [5, -2, 901], ...again]).left, [360, 1_360])
  })

  it("is judged in its time alone, and with an open start once it was between two places", () => {
    assert.deepStrictEqual(follow(off, { fromMs: 61_000 }).left, [900])
    assert.deepStrictEqual(follow(off, { untilMs: 359_000 }).left, [])
    assert.deepStrictEqual(follow(off, { isOpen: true }).left, [])
    assert.deepStrictEqual(follow([[5, 0, 0], ...off], { isOpen: true }).left, [360])
    assert.deepStrictEqual(follow(off, { isOpen: true, places: places.slice(0, 1) }).left, [])
  })
})

describe("over HTTP", () => {
  let governor: Governor
  let api: HttpApi
  let key: string
  const keyOf = async (org_unit: string) =>
    (await governor.platformKeys.mint({ name: "k", org_unit, plan: "enterprise", scopes: ["*"] })).key
  beforeEach(async () => {
    governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform()] })
    api = openHttp(governor)
    key = await keyOf("ops")
  })
  afterEach(() => governor.close())
  const send = async (method: string, path: string, body?: unknown, as = key) => {
    const response = await api.fetch(
      new Request(`http://host.example/v1/fleet/${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    )
    return { status: response.status, json: JSON.parse(await response.text()) as any }
  }
  const ago = (s: number) => new Date(Date.now() - s * 1_000).toISOString()
  const fix = (more: object = {}) => ({ vehicle_id: "van-7", at: ago(60), latitude: 52.5, longitude: 13.4, ...more })

  it("shows the latest position by measured time, and those of another org unit to nobody", async () => {
    const [late, now] = [fix({ at: ago(120), latitude: 1 }), fix({ latitude: 2 })]
    const taken = await send("POST", "positions", { positions: [now] })
    assert.deepStrictEqual(taken.json, { accepted: 1, late: 0, repeated: 0 })
    const again = await send("POST", "positions", { positions: [late, now] })
    assert.deepStrictEqual(again.json, { accepted: 1, late: 1, repeated: 1 })
    assert.strictEqual((await send("GET", "vehicles/van-7")).json.position.latitude, 2)
    const { json: track } = await send("GET", "vehicles/van-7/track")
    assert.deepStrictEqual(
      track.positions.map(({ latitude }: { latitude: number }) => latitude),
      [1, 2]
    )
    const other = await keyOf("sales")
    assert.strictEqual((await send("GET", "vehicles/van-7", undefined, other)).status, 404)
    assert.deepStrictEqual((await send("GET", "vehicles", undefined, other)).json.data, [])
    assert.lengthOf((await send("GET", "vehicles")).json.data, 1)
    assert.strictEqual((await send("DELETE", "vehicles/van-7")).status, 200)
    assert.strictEqual((await send("GET", "vehicles/van-7/track")).status, 404)
    assert.deepStrictEqual((await send("POST", "positions", { positions: [now] })).json.accepted, 1)
  })

  it("tells webhooks of the unit what entered and left, without the position", async () => {
    const circle = { latitude: 52.5, longitude: 13.4, radius_m: 100 }
    const fence = (await send("POST", "geofences", { name: "depot", circle, dwell_s: 10 })).json
    await send("POST", "positions", { positions: [fix(), fix({ at: ago(50) }), fix({ at: ago(40), latitude: 53 })] })
    assert.deepStrictEqual((await send("GET", "vehicles/van-7")).json.geofences, [fence.id])
    await send("POST", "positions", { positions: [fix({ at: ago(30), latitude: 53 })] })
    const events = await api.fetch(
      new Request("http://host.example/v1/events", { headers: { authorization: `Bearer ${key}` } })
    )
    const { data } = (await events.json()) as { data: ReadonlyArray<any> }
    assert.deepStrictEqual(
      data.map(({ data: facts, type }) => [type, Object.keys(facts).sort(), facts.geofence_id]),
      ["fleet.geofence_left", "fleet.geofence_entered"].map((type) => [
        type,
        ["at", "geofence_id", "vehicle_id"],
        fence.id
      ])
    )
    assert.strictEqual((await send("DELETE", `geofences/${fence.id}`)).status, 200)
    assert.deepStrictEqual((await send("GET", "geofences")).json.data, [])
  })

  it("refuses wrong input whole, and names the member", async () => {
    const positions = (...all: ReadonlyArray<object>) => ({ positions: all })
    const circle = { latitude: 0, longitude: 0, radius_m: 1 }
    const wrong: ReadonlyArray<readonly [string, string, object | undefined, string]> = [
      ["POST", "positions", positions(), "positions"],
      ["POST", "positions", positions(...Array.from({ length: 1_001 }, () => fix())), "positions"],
      ["POST", "positions", positions(fix(), fix({ latitude: 90.1 })), "positions[1].latitude"],
      ["POST", "positions", positions(fix({ longitude: "NaN" })), "positions[0].longitude"],
      ["POST", "positions", positions(fix(), fix({ at: ago(90_000) })), "positions[1].at"],
      ["POST", "positions", positions(fix({ at: ago(-400) })), "positions[0].at"],
      ["POST", "positions", positions(fix({ vehicle_id: "a b" })), "positions[0].vehicle_id"],
      ["POST", "geofences", { name: "f", circle: { ...circle, radius_m: 0 } }, "circle.radius_m"],
      ["POST", "geofences", { name: "f", polygon: Array.from({ length: 201 }, () => circle) }, "polygon"]
    ]
    for (const [method, path, body, param] of wrong) {
      const { json, status } = await send(method, path, body)
      assert.deepStrictEqual([status, json.error?.code, json.error?.param], [400, "invalid_request", param])
    }
    for (const body of [{ name: "f" }, { name: "f", circle, polygon: [circle, circle, circle] }])
      assert.strictEqual((await send("POST", "geofences", body)).status, 400)
    assert.strictEqual((await send("GET", "vehicles/van-7")).status, 404)
    assert.strictEqual((await send("GET", "vehicles/a%20b")).status, 404)
    await send("POST", "positions", positions(fix()))
    assert.strictEqual((await send("GET", `vehicles/van-7/track?from=${ago(-60)}&to=${ago(60)}`)).status, 400)
    assert.strictEqual((await send("GET", `vehicles/van-7/track?from=${ago(90_000)}`)).status, 400)
  })
})
