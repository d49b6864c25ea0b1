/** An agent's evaluations, over HTTP. Spec: api.md, GET /bound/evaluations. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"
import { seen } from "./testing/given-refused-world.ts"

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

const read = (query: string, token: string = world.admin) =>
  world.send("GET", `/api/v1/bound/evaluations${query}`, { token })
const evaluate = async (agentId: string, ref: string) =>
  (
    await world.send("POST", "/api/v1/bound/evaluations", {
      token: world.admin,
      json: { agent_id: agentId, client_ref: ref, signals: { amount: 3 } }
    })
  ).json

describe("GET /bound/evaluations", () => {
  it("lists what each is alone, newest first, for all that read the agent", async () => {
    const id = await world.register("listed", UNIT)
    const made = [await evaluate(id, "e1"), await evaluate(id, "e2")]
    for (const token of [world.admin, world.key, await world.token("auditor", UNIT)])
      assert.deepStrictEqual((await read(`?agent_id=${id}`, token)).json, made.toReversed())
    const { matched_rule: rule, outcome } = made[0]
    const chosen = `?agent_id=${id}&outcome=${outcome}&rule=${rule}&since=2000-01-01T00:00:00%2B01:00`
    assert.deepStrictEqual((await read(`${chosen}&before=${made[1].seq}`)).json, [made[0]])
    assert.deepStrictEqual((await read(`?agent_id=${id}&outcome=allow`)).json, [])
  })

  it("refuses what no evaluation can have", async () => {
    const id = await world.register("refused", UNIT)
    for (const [query, type, name] of [
      ["?agent_id=courier", "string_pattern_mismatch", "agent_id"],
      [`?agent_id=${id}&outcome=maybe`, "enum", "outcome"],
      [`?agent_id=${id}&rule=a%20b`, "string_pattern_mismatch", "rule"],
      [`?agent_id=${id}&since=yesterday`, "datetime_parsing", "since"],
      [`?agent_id=${id}&before=-1`, "greater_than_equal", "before"],
      [`?agent_id=${id}&limit=1001`, "less_than_equal", "limit"]
    ] as const)
      assert.deepStrictEqual(seen(await read(query)), [422, type, `query.${name}`], query)
  })

  it("is not found where the agent is not: unknown, or of another unit", async () => {
    const id = await world.register("elsewhere", OTHER_UNIT)
    for (const got of [await read(`?agent_id=${id}`, world.key), await read(`?agent_id=agt_${"0".repeat(26)}`)])
      assert.deepStrictEqual([got.status, got.json.code], [404, "agent_not_found"])
    assert.strictEqual((await read(`?agent_id=${id}`, world.otherKey)).status, 200)
  })
})
