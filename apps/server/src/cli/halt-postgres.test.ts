/** `flyball halt`, `release` and `kill-status` beside running servers on Postgres. */
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

// Ten processes, each of which opens the store.
describe("flyball halt beside a server on Postgres", { timeout: 240_000 }, () => {
  it("is in the server's next answer, as is the release", async () => {
    const there = { FLYBALL_DATABASE_URL: database.url }
    const server = await me.serve(there)
    const made = await server.call("POST", "/api/v1/agents", {
      name: "billing",
      org_unit: "ops",
      autonomy_tier: "L1",
      owner_name: "Ada",
      owner_email: "ada@example.org"
    })
    const { id } = (await made.json()) as { readonly id: string }
    const state = async (): Promise<unknown> =>
      (
        (await (await server.call("GET", `/api/v1/bound/kill/status?target_type=agent&target_id=${id}`)).json()) as {
          readonly halted: boolean
        }
      ).halted
    assert.strictEqual(await state(), false)
    const halted = await me.flyball(["halt", "--org-unit", "ops", "--reason", "r", "--json"], there)
    assert.deepEqual([halted.status, halted.err], [0, ""])
    assert.strictEqual(await state(), true)
    const { activation_event: activation } = JSON.parse(halted.out)
    const shown = await me.flyball(["kill-status", "billing"], there)
    assert.include(shown.out, `\n${activation}: halt of org_unit `)
    const released = await me.flyball(["release", activation, "--reason", "r"], there)
    assert.deepEqual([released.status, released.err], [0, ""])
    assert.strictEqual(await state(), false)
    assert.strictEqual((await me.flyball(["check"], there)).status, 0)
    await server.stop("SIGTERM")
  })
})
