import { assert, describe, it } from "vitest"
import { catalogueDifference } from "./catalogue.ts"

const body = { agent_id: `agt_${"0".repeat(26)}`, autonomy_tier: "L1", writer: "system:host" }
const check = (more: {
  readonly kind?: string
  readonly body?: object
  readonly parts?: ReadonlyArray<{ readonly name: string }>
}) =>
  catalogueDifference({
    seq: 4,
    kind: "agent.registered",
    parts: [{ name: "profile" }],
    ...more,
    body: { ...body, ...more.body }
  })

describe("checking a record against the catalogue", () => {
  it("finds nothing in a record that the catalogue describes", () => {
    assert.isNull(check({}))
    assert.isNull(check({ parts: [] }))
  })

  it("finds an unknown kind, a body out of bounds, an extra member and a part that the kind lacks", () => {
    assert.deepInclude(check({ kind: "agent.promoted" }), { collection: "records", id: "4", path: "/kind" })
    assert.strictEqual(check({ body: { autonomy_tier: "L9" } })?.path, "/body")
    assert.strictEqual(check({ body: { owner_name: "Ada" } })?.path, "/body")
    assert.strictEqual(check({ parts: [{ name: "args" }] })?.path, "/parts")
  })

  it("shows no value of the body", () => {
    assert.notInclude(JSON.stringify(check({ body: { writer: "Ada Lovelace" } })), "Ada")
  })
})
