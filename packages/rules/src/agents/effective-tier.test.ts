import { assert, describe, it } from "vitest"
import { type AgentDocument, type AutonomyTier, erasedProfile, noOwner } from "./document.ts"
import { effectiveTier, lostCondition } from "./effective-tier.ts"

const agent = (
  autonomyTier: AutonomyTier,
  identityVerified: boolean,
  status: AgentDocument["status"] = "active"
): AgentDocument => ({
  ...erasedProfile("a"),
  ...noOwner,
  orgUnit: "ops",
  riskClass: "unclassified",
  recertDueAtMs: 0,
  autonomyTier,
  identityVerified,
  status
})

/** Tier, envelope, identity, drill; the tier at which the agent acts, and what is missing. Written from api.md. */
const rows: ReadonlyArray<readonly [AutonomyTier, boolean, boolean, boolean, AutonomyTier, string | null]> = [
  ["L0", false, false, false, "L0", null],
  ["L1", false, false, false, "L1", null],
  ["L2", true, false, false, "L2", null],
  ["L2", false, true, true, "L1", "L2 published_envelope"],
  ["L3", true, true, false, "L3", null],
  ["L3", true, false, true, "L2", "L3 verified_identity"],
  ["L3", false, true, true, "L1", "L2 published_envelope"],
  ["L4", true, true, true, "L4", null],
  ["L4", true, true, false, "L3", "L4 attested_drill"],
  ["L4", true, false, true, "L2", "L3 verified_identity"],
  ["L4", false, false, false, "L1", "L2 published_envelope"]
]

describe("the effective tier of an agent", () => {
  for (const [tier, hasEnvelope, identity, hasDrill, effective, missing] of rows) {
    const having = (has: boolean, what: string): string => `${has ? "with" : "without"} ${what}`
    const facts = [having(hasEnvelope, "envelope"), having(identity, "identity"), having(hasDrill, "drill")]
    it(`${tier} ${facts.join(", ")}: ${effective}`, () => {
      assert.strictEqual(effectiveTier(agent(tier, identity), { hasEnvelope, hasDrill }), effective)
      const lost = lostCondition(tier, effective)
      assert.strictEqual(lost === null ? null : `${lost.tier} ${lost.condition}`, missing)
    })
  }

  it("is the declared tier for an agent that is not active", () => {
    for (const status of ["draft", "suspended", "decommissioned"] as const)
      assert.strictEqual(effectiveTier(agent("L4", false, status), { hasEnvelope: false, hasDrill: false }), "L4")
  })
})
