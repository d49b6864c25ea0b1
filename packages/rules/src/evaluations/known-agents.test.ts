import { assert, it } from "vitest"
import { encodeId } from "@flyball/evidence"
import { KnownAgents, reportedOf } from "./known-agents.ts"
import { isActive } from "./may-act.ts"

it.each([
  [true, true],
  [false, false]
])("an owner that is not shown is there where the record says so: %j", (complete, active) => {
  const id = encodeId("agt_", new Uint8Array(16))
  const agents = new KnownAgents()
  const parts = new Map([["owner", { state: "erased" } as const]])
  const body = { agent_id: id, autonomy_tier: "L2", owner_complete: complete, risk_class: "unclassified" }
  agents.fold({ seq: 1, kind: "agent.registered", body, parts })
  agents.fold({ seq: 2, kind: "agent.activated", body: { agent_id: id }, parts: new Map() })
  const { document } = reportedOf(id, agents.byId.get(id)!)
  assert.strictEqual(isActive(id, document, 8 * 86_400_000), active)
})
