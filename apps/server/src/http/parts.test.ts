/** One part of a record, over HTTP. Spec: api.md, GET /chain/records/{seq}/parts/{name}. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

const read = (seq: number, name: string, token: string = world.admin) =>
  world.send("GET", `/api/v1/chain/records/${seq}/parts/${name}`, { token })
let count = 0
const witnessed = async (unit: string): Promise<number> => {
  const id = await world.register(`courier ${count++}`, unit)
  const json = { client_ref: "r1", action: "pay", args: { to: "Ada" } }
  return (await world.send("POST", `/api/v1/agents/${id}/decisions`, { token: world.admin, json })).json.receipts[0].seq
}

describe("GET /chain/records/{seq}/parts/{name}", () => {
  it("shows the content to a governor and an admin of the unit, and to nobody else", async () => {
    const seq = await witnessed(UNIT)
    for (const role of ["governor", "admin"] as const) {
      const { json, status } = await read(seq, "args", await world.token(role, UNIT))
      assert.deepStrictEqual([status, json.text], [200, '{"to":"Ada"}'])
    }
    for (const role of ["auditor", "reviewer", "operator"] as const) {
      const { json, status, text } = await read(seq, "args", await world.token(role, "*"))
      assert.deepStrictEqual([status, json.code], [403, "forbidden"])
      assert.notInclude(text, "Ada")
    }
    const byKey = await read(seq, "args", world.key)
    assert.deepStrictEqual([byKey.status, byKey.json.code], [403, "key_not_allowed"])
  })

  it("shows what a person wrote about a suspension", async () => {
    const id = await world.register("suspended", UNIT)
    const json = { reason: "paid twice" }
    await world.send("POST", `/api/v1/agents/${id}/suspend`, { token: world.admin, json })
    const page = await world.send("GET", `/api/v1/agents/${id}/timeline`, { token: world.admin })
    const suspended = page.json.find(({ kind }: { readonly kind: string }) => kind === "agent.suspended")
    const got = await read(suspended.seq, "reason", await world.token("governor", UNIT))
    assert.deepStrictEqual([got.status, got.json.text], [200, '"paid twice"'])
  })

  it("is not found where there is no such part, or none that this caller sees", async () => {
    const seq = await witnessed(OTHER_UNIT)
    const governor = await world.token("governor", UNIT)
    for (const [got, code] of [
      [await read(seq, "result"), "part_not_found"],
      [await read(seq, "No%20name"), "part_not_found"],
      [await read(seq, "args", governor), "record_not_found"],
      [await read(0, "args", governor), "record_not_found"],
      [await read(1_000_000, "args"), "record_not_found"]
    ] as const)
      assert.deepStrictEqual([got.status, got.json.code], [404, code])
  })

  it("says that a part is erased, and by which record", async () => {
    const seq = await witnessed(UNIT)
    const json = { seq, name: "args", reason: "subject_request" }
    const erased = await world.send("POST", "/api/v1/chain/erasures", { token: world.admin, json })
    const got = await read(seq, "args", await world.token("governor", UNIT))
    assert.deepStrictEqual([got.status, got.json.code, got.json.erased_by], [410, "part_erased", erased.json.seq])
    assert.notInclude(got.text, "Ada")
  })
})
