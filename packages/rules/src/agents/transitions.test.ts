import { assert, describe, it } from "vitest"
import { type AgentAct, type AgentStatus, statusAfter, transitions } from "./transitions.ts"

/**
 * Written from api.md, not from the table: for each act, the status after it from draft, active, suspended,
 * decommissioned.
 */
const expected: {
  readonly [act in AgentAct]: readonly [AgentStatus | null, AgentStatus | null, AgentStatus | null, AgentStatus | null]
} = {
  activate: ["active", null, "active", null],
  suspend: ["suspended", "suspended", null, null],
  decommission: ["decommissioned", "decommissioned", "decommissioned", null],
  update: ["draft", "active", "suspended", null],
  "transfer-ownership": ["draft", "active", "suspended", null],
  disown: ["draft", "active", "suspended", null],
  recertify: ["draft", "active", "suspended", null],
  "attach-identity": ["draft", "active", "suspended", null],
  "add-provenance": ["draft", "active", "suspended", null]
}
const statuses = ["draft", "active", "suspended", "decommissioned"] as const

describe("the transition table", () => {
  for (const act of Object.keys(expected) as ReadonlyArray<AgentAct>) {
    it(act, () =>
      assert.deepStrictEqual(
        statuses.map((status) => statusAfter(act, status)),
        [...expected[act]]
      )
    )
  }

  it("has a row for every act", () =>
    assert.deepStrictEqual(Object.keys(transitions).sort(), Object.keys(expected).sort()))
})
