import * as contract from "@flyball/contract"
import { allRecordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { metaOut } from "./meta.ts"

const { detailTypes, eventTypes, missingBody, subscribableTypes, webhookEvents } = contract

describe("GET /register/_meta", () => {
  const meta = metaOut("1.2.3", "acme")

  it("has the events of the catalogue: what a webhook may ask for", () => {
    assert.deepStrictEqual(meta.event_kinds, subscribableTypes)
    assert.sameMembers([...meta.event_kinds, "webhook.test"], Object.keys(webhookEvents))
  })

  it("has every closed list of words that the contract has", () => {
    const reported = new Set<unknown>([...Object.values(meta.enums), meta.autonomy_tiers, meta.roles, meta.event_kinds])
    const elsewhere: ReadonlyArray<unknown> = [detailTypes, eventTypes, missingBody]
    assert.deepStrictEqual(
      Object.entries<unknown>(contract)
        .filter(([, value]) => Array.isArray(value) && !reported.has(value) && !elsewhere.includes(value))
        .map(([name]) => name),
      []
    )
  })

  it("has only kinds of records that the format names", () => {
    assert.includeMembers([...allRecordKinds], [...meta.record_kinds])
  })
})
