/** The envelopes that an agent's SDK keeps, over HTTP: cheap to poll. Spec: `envelope/1` section 15; decision 0055. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

const read = (id: string, token: string, headers: { readonly [name: string]: string } = {}) =>
  world.send("GET", `/api/v1/bound/agents/${id}/envelopes-in-force`, { token, headers })

describe("GET /bound/agents/{agent_id}/envelopes-in-force", () => {
  it("confirms what is unchanged with an empty 304 that says as of which record", async () => {
    const id = await world.register("polling", UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
    const first = await read(id, world.key)
    const { as_of_ms: ms, as_of_seq: seq } = first.json
    assert.deepInclude(first.json, { agent_id: id, obstacle: "agent_not_active", layers: [] })
    assert.strictEqual(first.headers.get("flyball-as-of"), `${seq} ${ms}`)
    const etag = first.headers.get("etag")!
    await world.register("another", UNIT)
    const again = await read(id, world.key, { "if-none-match": etag })
    assert.deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag])
    assert.isAbove(Number(again.headers.get("flyball-as-of")!.split(" ")[0]), seq)
    await world.send("POST", `/api/v1/agents/${id}/activate`, { token: world.admin, json: {} })
    const changed = await read(id, world.key, { "if-none-match": etag })
    assert.deepStrictEqual([changed.status, changed.json.obstacle], [200, "no_envelope"])
    assert.notStrictEqual(changed.headers.get("etag"), etag)
  })

  it("is not found where the agent is not: unknown, or of another unit", async () => {
    const id = await world.register("elsewhere", OTHER_UNIT)
    for (const got of [await read(id, world.key), await read(`agt_${"0".repeat(26)}`, world.admin)])
      assert.deepStrictEqual([got.status, got.json.code], [404, "agent_not_found"])
  })
})
