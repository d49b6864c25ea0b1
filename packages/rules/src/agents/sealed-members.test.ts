import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { type AgentDocument, erasedProfile, noOwner } from "./document.ts"
import { lacksSealedMembers, orgUnitDigest, readSealed, sealedBody, withSealedMembers } from "./sealed-members.ts"

const tag = Uint8Array.of(1, 2, 3, 255)
const owner = { ownerName: "Ada", ownerEmail: "ada@example.org" }
const older: AgentDocument = {
  ...erasedProfile("agt_1"),
  ...owner,
  name: "courier",
  orgUnit: "ward 7",
  modelIds: ["m"],
  autonomyTier: "L1",
  riskClass: "limited",
  status: "draft",
  recertDueAtMs: null
}

describe("the digest of an org unit", () => {
  it("is SHA-256 of the domain, the origin tag and the unit", () => {
    const hash = createHash("sha256").update("flyball/v1 org_unit\0").update(tag).update("ward 7").digest("hex")
    assert.strictEqual(orgUnitDigest(tag, "ward 7"), hash)
  })

  it("differs by chain and by unit", () => {
    assert.notStrictEqual(orgUnitDigest(Uint8Array.of(1, 2, 3, 4), "ward 7"), orgUnitDigest(tag, "ward 7"))
    assert.notStrictEqual(orgUnitDigest(tag, "ward 8"), orgUnitDigest(tag, "ward 7"))
  })
})

describe("the sealed members of an agent", () => {
  it("round-trip through the body of a record", () => {
    const agent = withSealedMembers({ ...older, parentAgentId: "agt_0" }, tag)
    const body = sealedBody(agent)
    assert.deepStrictEqual(body, {
      model_ids: ["m"],
      org_unit_digest: orgUnitDigest(tag, "ward 7"),
      owner_complete: true,
      parent_agent_id: "agt_0"
    })
    assert.deepStrictEqual<object>(readSealed(older, JSON.parse(JSON.stringify(body))), agent)
  })

  it("keep their values when a record omits them", () => {
    const agent = withSealedMembers({ ...older, parentAgentId: "agt_0" }, tag)
    assert.deepStrictEqual<object>(readSealed(agent, {}), agent)
  })

  it("keep their values when the profile is erased, until new models are given", () => {
    const erased = { ...withSealedMembers(older, tag), ...erasedProfile("agt_1") }
    assert.deepStrictEqual(sealedBody(withSealedMembers(erased, tag)), sealedBody(withSealedMembers(older, tag)))
    assert.deepStrictEqual(sealedBody(withSealedMembers(erased, tag, ["n"]))["model_ids"], ["n"])
  })

  it("have owner_complete false for half an owner, and for none", () => {
    for (const owner of [{ ownerEmail: null }, noOwner]) {
      const agent = withSealedMembers({ ...older, ...owner }, tag)
      assert.isFalse(sealedBody(agent)["owner_complete"])
      assert.isFalse(agent.ownerComplete)
    }
  })

  it("are missing in an agent that no record states, and in one whose unit digest is of another chain", () => {
    const agent = withSealedMembers(older, tag)
    assert.isTrue(lacksSealedMembers(older, tag))
    assert.isFalse(lacksSealedMembers(agent, tag))
    assert.isTrue(lacksSealedMembers(agent, Uint8Array.of(0, 0, 0, 0)))
    assert.isFalse(lacksSealedMembers({ ...agent, ...erasedProfile("agt_1") }, Uint8Array.of(0, 0, 0, 0)))
  })
})
