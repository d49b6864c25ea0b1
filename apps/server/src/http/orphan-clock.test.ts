/**
 * The orphan clock in a started server: a week passes on the registry's clock, and HTTP shows what it did. Spec:
 * document 1 sections 1 and 8.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { governorJobs } from "@flyball/core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { jumpingClock, until } from "../webhook-tests/testing/jumping-clock.ts"
import { openWorld, type World } from "./http-world.ts"

const WEEK_MS = 7 * 86_400_000
const clock = jumpingClock(Date.now())
let world: World

beforeAll(async () => {
  world = await openWorld({ jobs: governorJobs, under: clock.layer })
})
afterAll(() => world.close())

describe("an orphan", () => {
  it("is suspended a week after its owner left, by the jobs of a server that nobody asks", async () => {
    const id = await world.register("courier", "claims", { owner_name: "Ada", owner_email: "ada@example.org" })
    const kept = await world.register("keeper", "claims", { owner_name: "Ada", owner_email: "ada@example.org" })
    for (const agent of [id, kept])
      assert.strictEqual(
        (await world.send("POST", `/api/v1/agents/${agent}/activate`, { token: world.admin })).status,
        200
      )
    await world.send("POST", `/api/v1/agents/${id}/disown`, { token: world.admin, json: { reason: "left the house" } })
    const orphaned = (await world.send("GET", "/api/v1/agents/orphans", { token: world.admin })).json
    assert.deepStrictEqual(
      orphaned.map((one: { readonly id: string; readonly suspend_at: string }) => [one.id, one.suspend_at]),
      [[id, new Date(clock.nowMs() + WEEK_MS).toISOString()]]
    )

    clock.jump(clock.nowMs() + WEEK_MS)
    // A token of before has ended by that clock.
    assert.strictEqual((await world.send("GET", "/api/v1/me", { token: world.admin })).status, 401)
    const admin = await world.issuer.sign({ role: "admin", orgUnit: "*", subject: "ann" }, clock.nowMs())
    const agent = await until(
      async () => (await world.send("GET", `/api/v1/agents/${id}`, { token: admin })).json,
      ({ status }) => status !== "active",
      "nothing suspended the agent"
    )
    assert.deepInclude(agent, { status: "suspended", suspended_reason: "orphan_grace" })
    const [record] = (
      await world.send("GET", `/api/v1/chain/records?kind=agent.suspended&agent_id=${id}`, { token: admin })
    ).json
    assert.deepStrictEqual(record.body, { agent_id: id, reason: "orphan_grace", writer: "policy:orphan_grace" })
    assert.strictEqual((await world.send("GET", `/api/v1/agents/${kept}`, { token: admin })).json.status, "active")
  })
})
