/**
 * Paths, ids and queries out of bounds: status, code or type, and loc as the contract says. Spec: api.md, Conventions.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { assert, describe, it } from "vitest"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

describe("paths and queries", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
    ["/api/v1/agents?limit=0", [422, "greater_than_equal", "query.limit"]],
    ["/api/v1/agents?limit=1001", [422, "less_than_equal", "query.limit"]],
    ["/api/v1/agents?limit=ten", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=1.5", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=1&limit=2", [422, "value_error", "query.limit"]],
    ["/api/v1/agents?status=gone", [422, "enum", "query.status"]],
    ["/api/v1/agents?autonomy_tier=L5", [422, "enum", "query.autonomy_tier"]],
    [`/api/v1/agents?name=${"x".repeat(201)}`, [422, "string_too_long", "query.name"]],
    [`/api/v1/agents?q=${"x".repeat(201)}`, [422, "string_too_long", "query.q"]],
    ["/api/v1/agents?name=%00", [422, "value_error", "query.name"]],
    ["/api/v1/agents?after=a%20b", [422, "string_pattern_mismatch", "query.after"]],
    ["/api/v1/agents/agt_00000000000000000000000000", [404, "agent_not_found"]],
    ["/api/v1/agents/nobody", [404, "agent_not_found"]],
    ["/api/v1/agents/%00", [404, "agent_not_found"]],
    ["/api/v1/agents/a%2Fb", [404, "agent_not_found"]],
    ["/api/v1/agents/%ff", [404, "not_found"]],
    ["/api/v1/agents/", [404, "not_found"]],
    ["/api/v1/agents/agt_00000000000000000000000000/decisions", [404, "agent_not_found"]],
    ["/api/v1/chain/records?from=-1", [422, "greater_than_equal", "query.from"]],
    ["/api/v1/chain/records?from=9007199254740992", [422, "less_than_equal", "query.from"]],
    [`/api/v1/chain/records?from=${"9".repeat(300)}`, [422, "less_than_equal", "query.from"]],
    ["/api/v1/chain/records?kind=A", [422, "string_pattern_mismatch", "query.kind"]],
    ["/api/v1/chain/records?agent_id=x", [422, "string_pattern_mismatch", "query.agent_id"]],
    ["/api/v1/chain/records/one", [422, "int_parsing", "path.seq"]],
    ["/api/v1/chain/records/-1", [422, "greater_than_equal", "path.seq"]],
    ["/api/v1/chain/records/9007199254740992", [422, "less_than_equal", "path.seq"]],
    ["/api/v1/chain/records/9007199254740991", [404, "record_not_found"]],
    ["/api/v1/chain/records/1000000/proof", [404, "record_not_found"]],
    ["/api/v1/chain/records/1/proof?tree_size=0", [422, "greater_than_equal", "query.tree_size"]],
    ["/api/v1/chain/records/1/proof?tree_size=1", [422, "value_error", "query.tree_size"]],
    ["/api/v1/chain/records/1/proof?tree_size=1000000", [422, "value_error", "query.tree_size"]],
    ["/api/v1/chain/consistency", [422, "missing", "query.from"]],
    ["/api/v1/chain/consistency?from=2&to=1", [422, "value_error", "query.from"]],
    ["/api/v1/chain/consistency?from=1&to=1000000", [422, "value_error", "query.to"]],
    ["/api/v1/chain/verify?from=1000000", [422, "value_error", "query.from"]],
    ["/api/v1/chain/verify?from=2&to=1", [422, "value_error", "query.from"]],
    ["/api/v1/evidence/packs/pck_00000000000000000000000000", [404, "pack_not_found"]],
    ["/api/v1/evidence/packs/x", [404, "pack_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/x", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries?limit=0", [422, "greater_than_equal", "query.limit"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries?limit=1001", [422, "less_than_equal", "query.limit"]],
    [
      "/api/v1/webhooks/whk_00000000000000000000000000/deliveries?before=0",
      [422, "greater_than_equal", "query.before"]
    ],
    ["/api/v1/nothing", [404, "not_found"]],
    [`/${"a/".repeat(100)}`, [404, "not_found"]]
  ]
  for (const [path, expected] of cases) {
    it(`GET ${path.slice(0, 80)}`, async () => {
      const got = await given.world.send("GET", path, { token: given.world.admin })
      assert.deepStrictEqual(seen(got), expected)
      if (got.status === 404) assert.deepStrictEqual(Object.keys(got.json).sort(), ["code", "detail"])
    })
  }

  it("unknown parameters are refused, each once and beside the other problems", async () => {
    const problems = async (path: string) => {
      const { json, status } = await given.world.send("GET", path, { token: given.world.admin })
      const { detail } = json as { readonly detail: ReadonlyArray<{ readonly loc: unknown; readonly type: string }> }
      return [status, detail.map(({ loc, type }) => `${String(loc)} ${type}`)]
    }
    assert.deepStrictEqual(await problems("/api/v1/agents?utm=1&limit=0&utm=2"), [
      422,
      ["query,utm extra_forbidden", "query,limit greater_than_equal"]
    ])
    assert.deepStrictEqual(await problems("/api/v1/me?x"), [422, ["query,x extra_forbidden"]])
    const many = Array.from({ length: 1_000 }, (_, index) => `p${index}`).join("&")
    assert.lengthOf((await problems(`/api/v1/me?${many}`))[1] as ReadonlyArray<string>, 64)
    assert.strictEqual((await given.world.send("GET", "/status?utm=1")).status, 200)
  })

  it("records past the head are an empty list", async () => {
    const got = await given.world.send("GET", "/api/v1/chain/records?from=1000000", { token: given.world.admin })
    assert.deepStrictEqual([got.status, got.json], [200, []])
  })

  it("POST to an id that is none", async () => {
    const post = (path: string, json: unknown) => given.world.send("POST", path, { token: given.world.admin, json })
    assert.deepStrictEqual(seen(await post("/api/v1/decisions/x/settle", { status: "ok" })), [
      404,
      "decision_not_found"
    ])
    assert.deepStrictEqual(
      seen(await post("/api/v1/decisions/dec_00000000000000000000000000/settle", { status: "ok" })),
      [404, "decision_not_found"]
    )
    assert.deepStrictEqual(seen(await post("/api/v1/admin/ingest-keys/x/revoke", {})), [404, "ingest_key_not_found"])
    for (const act of [
      "test",
      "revoke",
      "rotate-secret",
      "rotate-secret/complete",
      "enable",
      `deliveries/dlv_${"0".repeat(26)}/redeliver`
    ]) {
      assert.deepStrictEqual(
        seen(await post(`/api/v1/webhooks/whk_${"0".repeat(26)}/${act}`, {})),
        [404, "webhook_not_found"],
        act
      )
    }
    assert.deepStrictEqual(seen(await post("/api/v1/agents/x/decisions", { client_ref: "a", action: "b" })), [
      404,
      "agent_not_found"
    ])
    assert.deepStrictEqual(
      seen(await post("/api/v1/evidence/packs", { kind: "sparse", agent_id: "agt_00000000000000000000000000" })),
      [404, "agent_not_found"]
    )
    assert.deepStrictEqual(
      seen(await post("/api/v1/chain/erasures", { seq: 1_000_000, name: "args", reason: "security" })),
      [404, "record_not_found"]
    )
    assert.deepStrictEqual(seen(await post("/api/v1/chain/erasures", { seq: 0, name: "args", reason: "security" })), [
      404,
      "part_not_found"
    ])
  })
})
