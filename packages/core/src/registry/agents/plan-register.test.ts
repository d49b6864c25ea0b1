import type { AgentCreate } from "@flyball/contract"
import { fromUtf8 } from "@flyball/evidence"
import { orgUnitDigest } from "@flyball/rules"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { planRegister, type RegistrationLimits } from "./plan-register.ts"

const plan = (input: AgentCreate, limits: RegistrationLimits | null = null) =>
  planRegister({ agentId: "agt_1", input, writer: { id: "usr_1" }, limits, originTag: new Uint8Array(4), line: [] })
const planned = (input: AgentCreate, limits?: RegistrationLimits | null) => Result.getOrThrow(plan(input, limits))
const refusal = (input: AgentCreate, limits?: RegistrationLimits | null) =>
  Result.getOrThrow(Result.flip(plan(input, limits)))
const key: RegistrationLimits = { orgUnits: ["ops"], maxTier: "L1" }

describe("registering an agent", () => {
  it("makes a draft with what was not said filled in", () => {
    const { agent, change } = planned({ name: "refunds", org_unit: "ops" })
    assert.deepInclude(agent, {
      name: "refunds",
      orgUnit: "ops",
      autonomyTier: "L0",
      riskClass: "unclassified",
      status: "draft",
      ownerEmail: null,
      labels: {},
      modelIds: [],
      recertDueAtMs: null
    })
    assert.deepStrictEqual(change.puts, [
      {
        collection: "agents",
        id: "agt_1",
        expectedVersion: 0,
        body: agent,
        unique: { name: "refunds" },
        keys: { org_unit: "ops" }
      }
    ])
  })

  it("keeps names, texts and people out of the body", () => {
    const { change } = planned({
      name: "Ada's bot",
      org_unit: "ward 7",
      owner_name: "Ada",
      owner_email: "ada@example.org",
      purpose: "p",
      autonomy_tier: "L2",
      recert_due_at: "2027-01-01T00:00:00.000Z"
    })
    const record = change.records![0]!
    assert.deepStrictEqual(record.body, {
      agent_id: "agt_1",
      autonomy_tier: "L2",
      model_ids: [],
      org_unit_digest: orgUnitDigest(new Uint8Array(4), "ward 7"),
      owner_complete: true,
      recert_due_at: "2027-01-01T00:00:00.000Z",
      risk_class: "unclassified",
      writer: "usr_1"
    })
    assert.deepStrictEqual(
      record.parts.map((part) => [part.name, fromUtf8(part.bytes)]),
      [
        ["owner", '{"owner_email":"ada@example.org","owner_name":"Ada"}'],
        [
          "profile",
          '{"blast_radius":{},"labels":{},"model_ids":[],"name":"Ada\'s bot","org_unit":"ward 7","purpose":"p"}'
        ]
      ]
    )
  })

  it("has no owner part where there is no owner, and a partial one where there is half of one", () => {
    assert.deepStrictEqual(
      planned({ name: "a", org_unit: "b" }).change.records![0]!.parts.map((part) => part.name),
      ["profile"]
    )
    assert.strictEqual(
      fromUtf8(
        planned({ name: "a", org_unit: "b", owner_email: "ada@example.org" }).change.records![0]!.parts[0]!.bytes
      ),
      '{"owner_email":"ada@example.org"}'
    )
    assert.strictEqual(
      fromUtf8(
        planned({ name: "a", org_unit: "b", owner_name: "Ada", owner_email: null }).change.records![0]!.parts[0]!.bytes
      ),
      '{"owner_name":"Ada"}'
    )
  })

  it("says whether the owner is complete, which takes a name and an address", () => {
    const rows = [
      [{}, false],
      [{ owner_name: "Ada" }, false],
      [{ owner_email: "ada@example.org" }, false],
      [{ owner_name: "Ada", owner_email: "ada@example.org" }, true]
    ] as const
    for (const [owner, complete] of rows) {
      const { agent, change } = planned({ name: "a", org_unit: "b", ...owner })
      assert.strictEqual(change.records![0]!.body["owner_complete"], complete)
      assert.strictEqual(agent.ownerComplete, complete ? undefined : false)
    }
  })

  it("takes the key's org unit where none is named", () => {
    assert.strictEqual(planned({ name: "a" }, key).agent.orgUnit, "ops")
    assert.strictEqual(planned({ name: "a", org_unit: "ops" }, key).agent.orgUnit, "ops")
  })

  it("refuses what the caller may not do", () => {
    const rows = [
      [{ name: "a" }, null, "InvalidInput"],
      [{ name: "a", org_unit: "sales" }, key, "OrgUnitNotAllowed"],
      [{ name: "a", autonomy_tier: "L2" }, key, "TierOverCap"],
      [{ name: "a", org_unit: "sales", autonomy_tier: "L4" }, key, "OrgUnitNotAllowed"]
    ] as const
    for (const [input, limits, tag] of rows) assert.strictEqual(refusal(input, limits)._tag, tag)
  })

  it("refuses the form of an agent's id as a name: it is what an agent is called after its profile was erased", () => {
    const name = "agt_01m7y9p8zyywptnx35n3qc57fr"
    const detail = refusal({ name, org_unit: "ops" })
    assert.deepInclude(detail._tag === "InvalidInput" ? detail.detail[0]! : {}, {
      loc: ["body", "name"],
      type: "value_error"
    })
    assert.strictEqual(planned({ name: `${name} too`, org_unit: "ops" }).agent.name, `${name} too`)
  })

  it("takes every tier up to the key's", () => {
    for (const tier of ["L0", "L1"] as const)
      assert.strictEqual(planned({ name: "a", autonomy_tier: tier }, key).agent.autonomyTier, tier)
    assert.strictEqual(planned({ name: "a", org_unit: "b", autonomy_tier: "L4" }).agent.autonomyTier, "L4")
  })
})
