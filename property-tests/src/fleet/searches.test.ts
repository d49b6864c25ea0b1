/** Searches of routes in a thread, as callers of `/v1` meet them: cancelled while they run, and too many of them. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { routeBounds } from "@flyball/contract"
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { afterAll, assert, beforeAll, it } from "vitest"
import { platform } from "../../../packages/platform/src/index.ts"

const dir = mkdtempSync(join(tmpdir(), "flyball-searches-"))
let governor: Governor
let send: (path: string, body?: unknown) => Promise<{ readonly status: number; readonly json: any }>
beforeAll(async () => {
  const options = { keys: dataFolder({ dir }), log: () => undefined, capabilities: [platform()] }
  governor = await openGovernor({ storage: memoryStorage(), ...options })
  const api = openHttp(governor)
  const { key } = await governor.platformKeys.mint({ name: "k", org_unit: "ops", plan: "custom", scopes: ["*"] })
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  send = async (path, body) => {
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) }
    const response = await api.fetch(new Request(`http://host.example/v1/fleet${path}`, init))
    return { status: response.status, json: await response.json() }
  }
})
afterAll(async () => {
  await governor.close()
  rmSync(dir, { recursive: true, force: true })
})

/** So many jobs that the clock alone ends their search. */
const jobs = Array.from({ length: 200 }, (_, at) => ({
  id: `j${at}`,
  location: { latitude: 52 + ((at * 37) % 100) / 100, longitude: 13 + at / 200 }
}))
const minute = { vehicles: [{ id: "v" }], jobs, max_seconds: 60 }

it("a running search ends with its best routes when it is cancelled, and a ninth problem is refused", async () => {
  // The thread is there then: the next search begins at once.
  const { json: first } = await send("/routes/optimize?wait=10", { ...minute, jobs: jobs.slice(0, 1) })
  assert.strictEqual(first.status, "completed")
  const { id } = (await send("/routes/optimize", minute)).json
  while ((await send(`/plans/${id}`)).json.status !== "processing") await pause(5)
  const waiting: Array<string> = []
  for (let more = 0; more < 7; more++) waiting.push((await send("/routes/optimize", minute)).json.id)
  const ninth = await send("/routes/optimize", minute)
  assert.deepStrictEqual([ninth.status, ninth.json.error.reason], [429, "plans-waiting"])
  for (const one of waiting) assert.isNull((await send(`/plans/${one}/cancel`, {})).json.routes)
  const { json: cancelled } = await send(`/plans/${id}/cancel`, {})
  assert.deepInclude(cancelled, { id, status: "cancelled" })
  assert.deepInclude(cancelled.totals, { vehicles: 1, stops: 200 })
})

it("a body of 16 MiB is read, and a longer one refused", async () => {
  const padded = (more: number) => {
    const bytes = JSON.stringify({ ...minute, vehicles: [], seed: "" }).length
    return { ...minute, vehicles: [], seed: "s".repeat(routeBounds.bodyBytes - bytes + more) }
  }
  assert.deepInclude((await send("/routes/optimize", padded(0))).json.error, { param: "vehicles" })
  assert.strictEqual((await send("/routes/optimize", padded(1))).status, 413)
})
