import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type PolicyRow, policyScopes, policyTriggers } from "./document.ts"
import { killResponses } from "../kill/response.ts"
import { responseFor } from "./response-for.ts"

const agent = { id: "agt_1", tier: "L3", orgUnit: "ops" } as const
const row = (scope: PolicyRow["scope"], target: string | null, response: PolicyRow["response"]): PolicyRow => ({
  scope,
  target,
  trigger: "breaker",
  response,
  notify: [`${scope}@example.org`]
})
const rows = [
  row("default", null, "notify"),
  row("tier", "L3", "step_down"),
  row("org_unit", "ops", "drain"),
  row("agent", "agt_1", "quarantine")
]

describe("the response policy", () => {
  it("returns the row of the most specific scope, in any order of rows", () => {
    for (let from = 0; from < rows.length; from++) {
      const some = rows.slice(0, from + 1)
      const expected = { response: some.at(-1)!.response, notify: some.at(-1)!.notify }
      assert.deepStrictEqual(responseFor({ rows: some }, agent, "breaker"), expected)
      assert.deepStrictEqual(responseFor({ rows: some.toReversed() }, agent, "breaker"), expected)
    }
  })

  it("returns null for another agent, tier, unit or trigger, and for an erased unit", () => {
    const narrow = { rows: rows.slice(1) }
    assert.isNull(responseFor(narrow, { id: "agt_2", tier: "L1", orgUnit: "sales" }, "breaker"))
    assert.isNull(responseFor(narrow, agent, "drift"))
    assert.isNull(responseFor({ rows: [row("org_unit", "null", "halt")] }, { ...agent, orgUnit: null }, "breaker"))
    assert.isNull(responseFor({ rows: [] }, agent, "breaker"))
  })

  it("never returns a row of a wider scope while a narrower one matches", () => {
    const anyRow = fc.record({
      scope: fc.constantFrom(...policyScopes),
      target: fc.constantFrom("agt_1", "agt_2", "ops", "sales", "L3", "L1", null),
      trigger: fc.constantFrom(...policyTriggers),
      response: fc.constantFrom(...killResponses),
      notify: fc.constant([])
    })
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 20 }), fc.constantFrom(...policyTriggers), (some, trigger) => {
        const fits = some.filter(
          (one) =>
            one.trigger === trigger &&
            (one.scope === "default" ||
              one.target === { agent: agent.id, org_unit: agent.orgUnit, tier: agent.tier }[one.scope])
        )
        const narrowest = policyScopes.find((scope) => fits.some((one) => one.scope === scope))
        const expected = fits.find(({ scope }) => scope === narrowest)?.response ?? null
        assert.strictEqual(responseFor({ rows: some }, agent, trigger)?.response ?? null, expected)
      }),
      { seed: 20_261_126 }
    )
  })
})
