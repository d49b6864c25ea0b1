import { subscribableTypes, webhookEvents } from "@flyball/contract"
import { allRecordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { metaOut } from "./meta.ts"

describe("what the service tells of itself", () => {
  const meta = metaOut("1.2.3", "acme")

  it("has the events of the catalogue: what a webhook may ask for", () => {
    assert.deepStrictEqual(meta.event_kinds, subscribableTypes)
    assert.sameMembers([...meta.event_kinds, "webhook.test"], Object.keys(webhookEvents))
  })

  it("has only kinds of records that the format names", () => {
    assert.includeMembers([...allRecordKinds], [...meta.record_kinds])
  })
})
