import { assert, describe, it } from "vitest"
import { type AgentDocument, erasedProfile, noOwner } from "./document.ts"
import { dueSuspension } from "./due.ts"

const DAY = 86_400_000
const made = 1_795_000_000_000
const agent = (more: Partial<AgentDocument>): AgentDocument => ({
  ...erasedProfile("a"),
  ...noOwner,
  orgUnit: "ops",
  autonomyTier: "L0",
  riskClass: "unclassified",
  status: "active",
  recertDueAtMs: null,
  ...more
})
const due = (more: Partial<AgentDocument>, nowMs: number): string | undefined =>
  dueSuspension(agent(more), made, nowMs)?.rule

describe("the transition that is due for an agent", () => {
  it("suspends an orphan exactly one week after it lost its owner", () => {
    assert.deepStrictEqual([due({}, made + 7 * DAY - 1), due({}, made + 7 * DAY)], [undefined, "policy:orphan_grace"])
    const left = made + 100 * DAY
    assert.deepStrictEqual(
      [due({ orphanedAtMs: left }, left + 7 * DAY - 1), due({ orphanedAtMs: left }, left + 7 * DAY)],
      [undefined, "policy:orphan_grace"]
    )
  })

  it("is none for a suspended or decommissioned agent, nor for one with an owner", () => {
    for (const more of [
      { status: "suspended" },
      { status: "decommissioned" },
      { ownerName: "Ada", ownerEmail: "ada@example.org" }
    ] as const)
      assert.isUndefined(due(more, made + 1_000 * DAY))
  })

  it("suspends a draft, and an agent with half an owner, too", () => {
    for (const more of [{ status: "draft" }, { ownerName: "Ada" }, { ownerEmail: "ada@example.org" }] as const)
      assert.strictEqual(due(more, made + 7 * DAY), "policy:orphan_grace")
  })

  it("suspends an active agent at its recertification date", () => {
    const owned = { ownerName: "Ada", ownerEmail: "ada@example.org", recertDueAtMs: made + DAY }
    assert.deepStrictEqual([due(owned, made + DAY - 1), due(owned, made + DAY)], [undefined, "policy:recertification"])
    assert.isUndefined(due({ ...owned, status: "draft" }, made + 9 * DAY))
  })
})
