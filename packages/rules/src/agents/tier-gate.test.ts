import { assert, describe, it } from "vitest"
import { missingFor, type TierCondition } from "./tier-gate.ts"

/** Written from api.md: what each tier needs. */
const needs = {
  L0: ["owner", "recertification"],
  L1: ["owner", "recertification"],
  L2: ["owner", "recertification", "published_envelope"],
  L3: ["owner", "recertification", "published_envelope", "verified_identity"],
  L4: ["owner", "recertification", "published_envelope", "verified_identity", "attested_drill"]
} as const

describe("the tier gate", () => {
  for (const tier of ["L0", "L1", "L2", "L3", "L4"] as const) {
    it(`${tier}: lists exactly the missing conditions`, () => {
      const all: ReadonlyArray<TierCondition> = needs[tier]
      assert.deepStrictEqual(missingFor(tier, new Set()), all)
      assert.deepStrictEqual(missingFor(tier, new Set(all)), [])
      for (const condition of all)
        assert.deepStrictEqual(missingFor(tier, new Set(all.filter((other) => other !== condition))), [condition])
    })
  }
})
