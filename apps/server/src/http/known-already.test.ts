/**
 * Refusals that only what was written before can explain: names, references, outcomes and parts that are taken, and
 * batches in which one is too large.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { assert, describe, it } from "vitest"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

describe("refusals of duplicates", () => {
  it("a name, a client_ref, an outcome, a part", async () => {
    const post = (path: string, json: unknown) => given.world.send("POST", path, { token: given.world.admin, json })
    const agent = await given.world.register("taken")
    const before = await given.everything()
    const name = await post("/api/v1/agents", { name: "taken", org_unit: "claims" })
    assert.deepStrictEqual([name.status, name.json.code, name.json.agent_id], [409, "agent_name_taken", agent])
    assert.deepStrictEqual(await given.everything(), before)

    const decision = await post(`/api/v1/agents/${agent}/decisions`, { client_ref: "a", action: "b", args: { x: 1 } })
    const reused = await post(`/api/v1/agents/${agent}/decisions`, {
      decisions: [
        { client_ref: "new", action: "b" },
        { client_ref: "a", action: "c" }
      ]
    })
    assert.deepStrictEqual([reused.status, reused.json.code, reused.json.indexes], [409, "client_ref_reused", [1]])
    const { decision_id, seq } = decision.json.receipts[0]
    assert.strictEqual((await post(`/api/v1/decisions/${decision_id}/settle`, { status: "ok" })).status, 201)
    assert.deepStrictEqual(seen(await post(`/api/v1/decisions/${decision_id}/settle`, { status: "error" })), [
      409,
      "decision_already_settled"
    ])
    const erased = await post("/api/v1/chain/erasures", { seq, name: "args", reason: "security" })
    const again = await post("/api/v1/chain/erasures", { seq, name: "args", reason: "security" })
    assert.deepStrictEqual([again.status, again.json.code, again.json.erased_by], [409, "part_erased", erased.json.seq])
  })

  it("a part over 1 MiB is 413, and nothing of its batch is written", async () => {
    const agent = await given.world.register("large")
    const before = await given.everything()
    const decisions = [
      { client_ref: "small", action: "b", args: "x" },
      { client_ref: "large", action: "b", args: "x".repeat(1_048_576) }
    ]
    const got = await given.world.send("POST", `/api/v1/agents/${agent}/decisions`, {
      token: given.world.admin,
      json: { decisions }
    })
    assert.deepStrictEqual([got.status, got.json.code, got.json.indexes], [413, "decision_too_large", [1]])
    assert.deepStrictEqual(await given.everything(), before)
  })
})
