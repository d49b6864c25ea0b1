import { assert, describe, it } from "vitest"
import type { StoredAgent } from "../agents/document.ts"
import { planRegister } from "../agents/plan-register.ts"
import { Result } from "effect"
import { systemHost as writer } from "../../foundation/writer.ts"
import { attestedCard, attestedDeclaration, planAttach } from "./plan-attach.ts"

const id = "agt_00000000000000000000000001"
const { agent } = Result.getOrThrow(
  planRegister({
    agentId: id,
    input: { name: "courier", org_unit: "ops" },
    writer,
    limits: null,
    originTag: new Uint8Array(4),
    line: []
  })
)
const stored: StoredAgent = { id, version: 3, body: agent }
const rejected = attestedCard(
  { verdict: "rejected", reason: "key_unknown", alg: "EdDSA", keyId: null, claimedKeyId: "k" },
  "signed_card",
  "0a".repeat(32)
)

describe("planning an attestation", () => {
  it("changes nothing of a rejected card's agent, but expects that it is still the agent that was read", () => {
    const { agent: after, change } = planAttach(stored, rejected, writer, 0)
    assert.strictEqual(after, stored.body)
    assert.deepStrictEqual([change.puts, change.expects], [undefined, [{ collection: "agents", id, version: 3 }]])
    assert.lengthOf(change.records!, 1)
  })

  it("writes the document of one that counts, over the version that was read", () => {
    const { change } = planAttach(stored, attestedDeclaration("did", "did:web:example.org"), writer, 0)
    const [put] = change.puts!
    assert.deepInclude(put, { expectedVersion: 3, unique: { name: "courier" } })
    assert.deepInclude(put!.body, {
      identityVerified: false,
      identitySource: "did",
      identityRef: "did:web:example.org"
    })
  })

  it("keeps 200 characters of what a card calls a key, and halves none", () => {
    const long = attestedCard(
      { verdict: "rejected", reason: "key_unknown", alg: "EdDSA", keyId: null, claimedKeyId: "\u{1F600}".repeat(300) },
      "a2a_signed_card",
      "0a".repeat(32)
    )
    assert.strictEqual(long.claimedKeyId, "\u{1F600}".repeat(200))
  })
})
