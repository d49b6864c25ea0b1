import { assert, describe, it } from "vitest"
import type { KnownAgent } from "../../evaluations/known-agents.ts"
import { judgeLifecycle } from "./lifecycle.ts"

const id = `agt_${"0".repeat(26)}`
const agents = (status: string): ReadonlyMap<string, KnownAgent> =>
  new Map([[id, { document: { body: { status } } } as unknown as KnownAgent]])
const judged = (kind: string, status: string, more = {}) =>
  judgeLifecycle(
    agents(status),
    { seq: 1, kind, body: { agent_id: id, writer: `usr_${"0".repeat(26)}`, ...more }, parts: new Map() },
    true
  )?.verdict ?? null

describe("an agent's records", () => {
  it("follow the table of transitions", () => {
    assert.strictEqual(judged("agent.activated", "active"), "tier_mismatch")
    assert.strictEqual(judged("agent.activated", "decommissioned"), "tier_mismatch")
    assert.strictEqual(judged("agent.updated", "decommissioned"), "tier_mismatch")
    assert.isNull(judged("agent.activated", "suspended"))
    assert.isNull(judged("agent.updated", "draft"))
    assert.isNull(judged("capture.gap", "decommissioned"))
  })

  it("are taken in any status from rules and from the job that completes agents of the chain before", () => {
    assert.isNull(judged("agent.updated", "decommissioned", { writer: "system:migration" }))
    assert.isNull(judged("agent.owner_transferred", "decommissioned", { writer: "policy:erased_owner" }))
  })
})
