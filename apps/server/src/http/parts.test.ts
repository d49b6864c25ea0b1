/** One part of a record, over HTTP. Spec: api.md, GET /chain/records/{seq}/parts/{name}. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"
import { paymentsUpTo } from "./testing/payments.ts"

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

describe("GET /decisions/{id}", () => {
  it("shows what was sent to a reviewer where people reviewed it, and withholds it elsewhere", async () => {
    const agent = await world.register("reviewed", UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
    const people = {
      author: await world.token("governor", UNIT, "ann"),
      other: await world.token("governor", UNIT, "ben")
    }
    const post = async (path: string, json: object, token = world.admin) => {
      const got = await world.send("POST", `/api/v1/${path}`, { token, json })
      assert.include([200, 201], got.status, `${path}: ${got.text}`)
      return got.json
    }
    const draft = {
      name: "pay",
      agent_id: agent,
      envelope: { ...paymentsUpTo(9, "require_review"), effects: { pay: "read" } }
    }
    const { id: envelope } = await post("bound/envelopes", draft, people.author)
    await post(`bound/envelopes/${envelope}/publish`, {}, people.other)
    await post(`agents/${agent}/activate`, {})
    const sent = {
      agent_id: agent,
      client_ref: "e1",
      action: "pay",
      args: { to: "Ada" },
      signals: { tool: "pay", amount: 5 }
    }
    const evaluation = await post("bound/evaluations", sent, world.key)
    const reviewer = await world.token("reviewer", UNIT, "cyn")
    await post(`bound/reviews/${evaluation.review_id}/claim`, {}, reviewer)
    await post(`bound/reviews/${evaluation.review_id}/resolve`, { resolution: "approve" }, reviewer)
    const done = { action: "pay", args: { to: "Ada" } }
    const { receipts } = await post(
      `agents/${agent}/decisions`,
      {
        decisions: [
          { ...done, client_ref: "d1", evaluation_id: evaluation.id },
          { ...done, client_ref: "d2", approval_id: evaluation.review_id },
          { ...done, client_ref: "d3" }
        ]
      },
      world.key
    )
    const shown = async (token: string) =>
      Promise.all(
        receipts.map(async ({ decision_id: id }: { readonly decision_id: string }) => {
          const { json } = await world.send("GET", `/api/v1/decisions/${id}`, { token })
          return [json.args, json.withheld]
        })
      )
    const [open, closed] = [
      [{ to: "Ada" }, false],
      [null, true]
    ]
    assert.deepStrictEqual(await shown(reviewer), [open, open, closed])
    assert.deepStrictEqual(await shown(people.other), [open, open, open])
    assert.deepStrictEqual(await shown(await world.token("auditor", UNIT)), [closed, closed, closed])
    assert.deepStrictEqual(await shown(world.key), [closed, closed, closed])
  })
})
