import { recordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { erasedProfile, identityMembers, noOwner } from "../agents/document.ts"
import { mappingMembers } from "../access-mapping/document.ts"
import { erasedKeyProfile } from "../ingest-keys/document.ts"
import { erasedPlatformKeyProfile } from "../platform-keys/document.ts"
import { identityMembers as personMembers } from "../principals/document.ts"
import { responsePolicyMembers } from "../response-policy/document.ts"
import { erasedProvenance } from "../provenance/document.ts"
import { boxMembers } from "../standing-approvals/document.ts"
import { waiverMembers } from "../waivers/document.ts"
import { erasedEndpoint } from "../webhooks/document.ts"
import { namesOf, readMembers, wireName, writeMembers } from "./part-members.ts"

/** Members that documents hold of a part, by kind and part. */
const held: { readonly [part: string]: ReadonlyArray<string> } = {
  "agent.registered/owner": namesOf(noOwner),
  "agent.registered/profile": namesOf(erasedProfile("")),
  "agent.updated/profile": namesOf(erasedProfile("")),
  "agent.owner_transferred/owner": namesOf(noOwner),
  "agent.identity_attested/identity": identityMembers,
  "agent.provenance_added/profile": namesOf(erasedProvenance("")),
  "ingest_key.minted/profile": namesOf(erasedKeyProfile("")),
  "platform_key.minted/profile": namesOf(erasedPlatformKeyProfile("")),
  "mapping.changed/mapping": mappingMembers,
  "principal.seen/identity": personMembers,
  "response_policy.changed/policy": responsePolicyMembers,
  "standing_approval.proposed/box": boxMembers,
  "waiver.requested/waiver": waiverMembers,
  "waiver.granted/waiver": waiverMembers,
  "webhook.created/endpoint": namesOf(erasedEndpoint),
  "webhook.changed/endpoint": namesOf(erasedEndpoint)
}

/** Parts of known members whose members no document holds one by one. */
const notHeld = ["agent.identity_attested/claim", "evaluation.made/advice", "envelope.drafted/profile"]

describe("the members of parts", () => {
  it("match between documents and the catalogue, in both directions", () => {
    const inCatalogue = recordKinds.flatMap(({ kind, parts }) =>
      parts.flatMap(({ members, name }) =>
        members === undefined || notHeld.includes(`${kind}/${name}`)
          ? []
          : [[`${kind}/${name}`, members.map((member) => member.name).toSorted()] as const]
      )
    )
    assert.deepStrictEqual(
      Object.fromEntries(inCatalogue),
      Object.fromEntries(Object.entries(held).map(([part, members]) => [part, members.map(wireName).toSorted()]))
    )
  })

  const erased: {
    readonly name: string
    readonly orgUnit: string | null
    readonly modelIds: ReadonlyArray<string>
    readonly labels: { readonly [name: string]: string }
  } = { name: "id", orgUnit: null, modelIds: [], labels: {} }

  it("are read and written under their wire names", () => {
    const wire = { name: "a", org_unit: "b", model_ids: ["c"], labels: { d: "e" } }
    const read = readMembers(wire, erased)
    assert.deepStrictEqual(read, { name: "a", orgUnit: "b", modelIds: ["c"], labels: { d: "e" } })
    assert.deepStrictEqual(writeMembers(read, erased), wire)
  })

  it("have the value of an erased part when they are absent or of another type", () => {
    for (const wire of [{}, { name: 1, org_unit: {}, model_ids: {}, labels: [] }])
      assert.deepStrictEqual(readMembers(wire, erased), { name: "id", orgUnit: null, modelIds: [], labels: {} })
  })

  it("are written with the value of an erased part when an older document lacks them", () => {
    const { orgUnit: _, ...older } = erased
    assert.deepStrictEqual(writeMembers(older as typeof erased, erased), {
      name: "id",
      org_unit: null,
      model_ids: [],
      labels: {}
    })
  })
})
