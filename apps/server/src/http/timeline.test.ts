/** Timeline of one agent, over HTTP. Spec: api.md, GET /agents/{agent_id}/timeline. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"
import { seen } from "./testing/given-refused-world.ts"

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

const admin = (method: string, path: string, json?: unknown) =>
  world.send(method, `/api/v1${path}`, { token: world.admin, ...(json === undefined ? {} : { json }) })

/** An agent whose owner is erased. */
const erasedOwner = async (name: string) => {
  const id = await world.register(name, UNIT, { owner_name: "Ada Lovelace", owner_email: "ada@example.org" })
  const [registered] = (await admin("GET", `/agents/${id}/timeline`)).json
  const erased = await admin("POST", "/chain/erasures", {
    seq: registered.seq,
    name: "owner",
    reason: "subject_request"
  })
  assert.strictEqual(erased.status, 201)
  return { id, seq: registered.seq, erasure: erased.json.seq }
}

describe("GET /agents/{agent_id}/timeline", () => {
  it("says that a part was erased and holds nothing of the person, for any reader", async () => {
    const { erasure, id, seq } = await erasedOwner("erased")
    for (const token of [world.admin, await world.token("auditor", UNIT)]) {
      const { json, status, text } = await world.send("GET", `/api/v1/agents/${id}/timeline`, { token })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        json.map(({ kind, seq }: { readonly kind: string; readonly seq: number }) => [seq, kind]),
        [
          [erasure + 1, "agent.orphaned"],
          [erasure, "part.erased"],
          [seq, "agent.registered"]
        ]
      )
      assert.notMatch(text, /Ada|ada@/)
    }
  })

  it("comes page by page as it does whole", async () => {
    const { id } = await erasedOwner("paged")
    const whole = (await admin("GET", `/agents/${id}/timeline`)).json
    const pages = []
    for (let before = ""; ;) {
      const { json } = await admin("GET", `/agents/${id}/timeline?limit=1${before}`)
      if (json.length === 0) break
      pages.push(...json)
      before = `&before=${json[0].seq}`
      assert.isAtMost(pages.length, whole.length)
    }
    assert.deepStrictEqual(pages, whole)
  })

  it("refuses what is no cursor and no size of a page", async () => {
    const { id } = await erasedOwner("refused")
    for (const [query, type, name] of [
      ["before=nope", "int_parsing", "before"],
      ["before=-1", "greater_than_equal", "before"],
      ["before=1.5", "int_parsing", "before"],
      ["before=", "int_parsing", "before"],
      ["before=1&before=2", "value_error", "before"],
      ["limit=0", "greater_than_equal", "limit"],
      ["limit=1001", "less_than_equal", "limit"]
    ] as const)
      assert.deepStrictEqual(
        seen(await admin("GET", `/agents/${id}/timeline?${query}`)),
        [422, type, `query.${name}`],
        query
      )
  })

  it("is not found where the agent is not: unknown, or of another unit", async () => {
    const id = await world.register("elsewhere", OTHER_UNIT)
    const read = (agent: string, token: string) => world.send("GET", `/api/v1/agents/${agent}/timeline`, { token })
    for (const got of [
      await read(id, await world.token("admin", UNIT)),
      await read(`agt_${"0".repeat(26)}`, world.admin),
      await read("courier", world.admin)
    ])
      assert.deepStrictEqual([got.status, got.json.code], [404, "agent_not_found"])
    assert.strictEqual((await read(id, await world.token("operator", OTHER_UNIT))).status, 200)
  })

  it("is no reading of agents' keys: it names drafts, envelopes and people that they may not read", async () => {
    const id = await world.register("own")
    const { status } = await world.send("GET", `/api/v1/agents/${id}/timeline`, { token: world.key })
    assert.strictEqual(status, 403)
  })
})
