/** One life of a bounded agent with everything in it that an evaluation can depend on. */
import { Agents, Capture, Envelopes, Evaluations, Waivers } from "@flyball/core"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { activeAgent, ann, ask, beginMs, ben, host, publish, refunds, republish } from "./bounded-world.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A cap of an org unit: 4 actions an hour for each of its agents. */
const unitCap = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["search", "refund"], source: "caller" },
    risk_class: { type: "enum", values: ["prohibited", "high", "limited", "minimal", "unclassified"], source: "server" }
  },
  effects: { search: "read", refund: "write_reversible" },
  meters: { actions: { op: "count", window_ms: HOUR_MS, key: ["agent_id"] } },
  rules: [
    { id: "all", outcome: "allow", when: [] },
    { id: "busy", outcome: "require_review", when: [{ meter: "actions", after_gt: 8 }] }
  ],
  default: { outcome: "deny" }
}

/** Lives it; answers whom it was about. */
export const boundedLife = Effect.gen(function* () {
  const envelopes = yield* Envelopes
  const evaluations = yield* Evaluations
  const agentId = yield* activeAgent("refund bot")
  yield* ask(agentId, { tool: "search" })
  const envelopeId = yield* publish({ agent_id: agentId }, refunds())
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))

  // Near the cap, with amounts that came to something else and one that was not taken.
  const refund = (amount: number, run?: string) =>
    Effect.andThen(TestClock.adjust(60_000), ask(agentId, { tool: "refund", amount }, run))
  yield* refund(5_000)
  const first = yield* refund(2_000)
  const {
    receipts: [receipt]
  } = yield* Capture.use((capture) =>
    capture.witness(
      agentId,
      [{ client_ref: "d-1", kind: "tool_call", action: "refund", status: "intended", evaluation_id: first.id }],
      host
    )
  )
  yield* Capture.use((capture) =>
    capture.settle(receipt!.decision_id, { status: "ok", actual: [{ meter: "spent", amount: 1_500 }] }, ben)
  )
  const second = yield* refund(2_000)
  yield* refund(2_000)
  yield* evaluations.void(second.id, { reason: "The order was cancelled." }, ben)
  for (let time = 0; time < 4; time++) yield* refund(1_900)
  yield* refund(100)
  yield* ask(agentId, { tool: "refund", amount: 1, note: "x" })
  yield* ask(agentId, { tool: "search", untrusted: true }, "run-2")
  yield* refund(1, "run-2")

  // An exception for a while.
  const { id: waiverId } = yield* Waivers.use((waivers) =>
    waivers.request(
      envelopeId,
      {
        rule_id: "cap",
        unless: [{ signal: "amount", lte: 50 }],
        expires_at: formatInstant(beginMs + 6 * HOUR_MS),
        reason: "quarter end"
      },
      ann
    )
  )
  yield* Waivers.use((waivers) => waivers.grant(envelopeId, waiverId, ben))
  yield* refund(40)
  yield* TestClock.adjust(6 * HOUR_MS)
  yield* refund(40)

  // A cap of the unit, a trial, a version that replaces the first, and what windows have forgotten by then.
  const unitId = yield* publish({ org_unit: "support" }, unitCap)
  yield* refund(10)
  yield* republish(envelopeId, refunds({ rules: [{ id: "none", outcome: "deny", when: [] }] }), "shadow")
  yield* ask(agentId, { tool: "search" })
  yield* TestClock.adjust(DAY_MS)
  yield* refund(2_000)
  yield* republish(envelopeId, refunds({ params: { unused: 1 } }))
  yield* refund(2_000)

  // Another tier, nobody active, nothing in force, and in force again.
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L1" }, ben))
  yield* refund(10)
  yield* Agents.use((agents) => agents.suspend(agentId, {}, ben))
  yield* refund(10)
  yield* Agents.use((agents) => agents.activate(agentId, ben))
  yield* envelopes.withdraw(envelopeId, {}, ann)
  yield* refund(10)
  yield* republish(envelopeId, refunds())
  yield* refund(10)
  return { agentId, envelopeId, unitId }
})
