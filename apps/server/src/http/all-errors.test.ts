/** A bad request is refused with all errors of its members at once. Spec: api.md, Conventions: "all errors listed". */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { assert, describe, it } from "vitest"
import { givenRefusedWorld } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

/** Where something is wrong, and what. */
const reported = async (
  method: string,
  path: string,
  sending: { readonly token: string; readonly json?: unknown }
): Promise<ReadonlyArray<string>> => {
  const { json, status } = await given.world.send(method, path, sending)
  assert.strictEqual(status, 422)
  return (json.detail as ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly type: string }>).map(
    ({ loc, type }) => `${loc.join(".")} ${type}`
  )
}

describe("all errors are listed", () => {
  it("of rules in a draft, forms and checks alike, as of rules that are set", async () => {
    const rules = [
      { match: { claim: "roles", value: "" }, role: "root", org_unit: "" },
      { match: { claim: "x", value: 1 }, role: "admin", org_unit: "\n" }
    ]
    const wrong = [
      "body.rules.0.match.value string_too_short",
      "body.rules.0.role enum",
      "body.rules.0.org_unit string_too_short",
      "body.rules.1.match.claim enum",
      "body.rules.1.match.value string_type",
      "body.rules.1.org_unit value_error"
    ]
    assert.deepStrictEqual(
      await reported("PUT", "/api/v1/admin/entitlement-rules", { token: given.world.admin, json: { rules } }),
      wrong
    )
    const draft = { rules, roles: ["x".repeat(257), 1], groups: "a" }
    assert.deepStrictEqual(
      await reported("POST", "/api/v1/admin/entitlement-rules/resolve-draft", {
        token: given.world.admin,
        json: draft
      }),
      [...wrong, "body.roles.0 string_too_long", "body.roles.1 string_type", "body.groups list_type"]
    )
  })

  it("of an agent, its org unit among them where the caller has not one", async () => {
    const input = { autonomy_tier: "L9", owner_email: "nobody" }
    const wrong = ["body.name missing", "body.owner_email value_error"]
    assert.deepStrictEqual(await reported("POST", "/api/v1/agents", { token: given.world.admin, json: input }), [
      ...wrong,
      "body.org_unit missing",
      "body.autonomy_tier enum"
    ])
    assert.deepStrictEqual(await reported("POST", "/api/v1/agents", { token: given.world.key, json: input }), [
      ...wrong,
      "body.autonomy_tier enum"
    ])
    assert.deepStrictEqual(
      await reported("POST", "/api/v1/agents", { token: given.world.admin, json: { name: "n" } }),
      ["body.org_unit missing"]
    )
  })

  it("of path and query", async () => {
    assert.deepStrictEqual(
      await reported("GET", "/api/v1/chain/records/abc/proof?tree_size=x", { token: given.world.admin }),
      ["path.seq int_parsing", "query.tree_size int_parsing"]
    )
    assert.deepStrictEqual(
      await reported("GET", "/api/v1/chain/records/0/proof?tree_size=x", { token: given.world.admin }),
      ["query.tree_size int_parsing"]
    )
    const { status } = await given.world.send("GET", "/api/v1/agents/nobody/decisions?limit=0", {
      token: given.world.admin
    })
    assert.strictEqual(status, 404, "an id that cannot be one")
  })

  it("of a time that must lie ahead, beside what is wrong elsewhere", async () => {
    const past = "2020-01-01T00:00:00+01:00"
    const paths = {
      "admin/ingest-keys": ["body.name missing", "body.org_unit missing"],
      [`bound/envelopes/env_${"0".repeat(26)}/waivers`]: [
        "body.rule_id missing",
        "body.unless missing",
        "body.reason missing"
      ],
      "bound/standing-approvals": [
        "body.review_id missing",
        "body.pins missing",
        "body.count missing",
        "body.reason missing"
      ]
    }
    for (const [path, wrong] of Object.entries(paths))
      assert.deepStrictEqual(
        await reported("POST", `/api/v1/${path}`, { token: given.world.admin, json: { expires_at: past } }),
        [...wrong, "body.expires_at value_error"]
      )
    const json = { recert_due_at: past, x: 1 }
    assert.deepStrictEqual(
      await reported("POST", `/api/v1/agents/agt_${"0".repeat(26)}/recertify`, { token: given.world.admin, json }),
      ["body.x extra_forbidden", "body.recert_due_at value_error"]
    )
  })
})
