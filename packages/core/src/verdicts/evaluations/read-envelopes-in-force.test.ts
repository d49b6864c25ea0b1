/** Envelopes that an agent's SDK may decide under, and why it may not. Spec: `envelope/1` section 15; decision 0055. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld } from "../../testing/governor-world.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Envelopes } from "../envelopes/service.ts"
import { Kill } from "../kill/service.ts"
import { Waivers } from "../waivers/service.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, ben, governedAgent, refunds } from "./testing/refunds.ts"

const offered = (more: object = {}) => refunds({ on_unavailable: "allow_cached", meters: {}, rules, ...more })
const rules = [
  { id: "search", outcome: "allow", when: [{ signal: "tool", in: ["search"] }] },
  { id: "large", outcome: "deny", when: [{ signal: "amount", gt: 2_000 }] }
]

const inForce = (agentId: string) => Evaluations.use((evaluations) => evaluations.inForce(agentId))
const obstacleOf = (agentId: string) => Effect.map(inForce(agentId), ({ answer }) => answer.obstacle)

describe("the envelopes in force for an agent's SDK", () => {
  it.effect("are shown with what else a verdict needs, as of the head of the chain", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent(offered())
      const { answer, tag } = yield* inForce(agentId)
      assert.deepInclude(answer, { agent_id: agentId, obstacle: null, effective_tier: "L2", max_age_ms: 60_000 })
      assert.deepInclude(answer.server_signals, { tier: 2, agent_status: "active" })
      const [layer, ...others] = answer.layers
      assert.deepInclude(layer, { envelope_id: envelopeId, version: 1, on_unavailable: "allow_cached", meters: [] })
      assert.deepStrictEqual([layer?.envelope, others], [offered(), []])
      // An evaluation changes nothing of it but the position.
      yield* ask(agentId, { tool: "search" })
      const after = yield* inForce(agentId)
      assert.strictEqual(after.tag, tag)
      assert.isAbove(after.answer.as_of_seq, answer.as_of_seq)
      yield* Envelopes.use((envelopes) =>
        Effect.andThen(
          envelopes.update(envelopeId, { envelope: offered({ rules: rules.slice(0, 1) }) }, ann),
          envelopes.publish(envelopeId, {}, ben)
        )
      )
      const changed = yield* inForce(agentId)
      assert.deepStrictEqual([changed.tag === tag, changed.answer.layers[0]?.version], [false, 2])
    }).pipe(Effect.provide(governorWorld()))
  )

  for (const [what, envelope, obstacle] of [
    ["do not offer it", offered({ on_unavailable: "deny" }), "not_offered"],
    ["have meters", refunds({ on_unavailable: "allow_cached" }), "metered"],
    [
      "have latches",
      offered({
        signals: {
          ...(refunds()["signals"] as object),
          untrusted: { type: "bool", source: "caller", on_missing: false },
          tainted: { type: "bool", source: "latch", set_by: "untrusted" }
        }
      }),
      "latched"
    ]
  ] as const)
    it.effect(`are hidden where they ${what}`, () =>
      Effect.gen(function* () {
        const { agentId } = yield* governedAgent(envelope)
        const { answer } = yield* inForce(agentId)
        assert.deepStrictEqual([answer.obstacle, answer.layers.map((one) => one.envelope)], [obstacle, [null]])
        // What an agent may send it has to know all the same.
        assert.includeMembers([...answer.layers[0]!.caller_signals], ["amount", "tool"])
        assert.notInclude(answer.layers[0]!.caller_signals, "tainted")
      }).pipe(Effect.provide(governorWorld()))
    )

  it.effect("are hidden while a waiver holds, a kill reaches the agent, or it is not active", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent(offered())
      const expires = new Date((yield* Clock.currentTimeMillis) + 60_000).toISOString()
      const unless = [{ signal: "tool", in: ["search"] }]
      const waivers = yield* Waivers
      const requested = { rule_id: "large", unless, reason: "A busy day.", expires_at: expires }
      const { id } = yield* waivers.request(envelopeId, requested, ann)
      yield* waivers.grant(envelopeId, id, ben)
      assert.strictEqual(yield* obstacleOf(agentId), "waived")
      yield* TestClock.adjust(60_000)
      assert.isNull(yield* obstacleOf(agentId))
      const kill = yield* Kill
      const { activation_event } = yield* kill.activate(
        { target_type: "agent", target_id: agentId, response: "step_down", reason: "Test." },
        ben
      )
      const lowered = (yield* inForce(agentId)).answer
      assert.deepInclude(lowered, { obstacle: "kill_switch", effective_tier: "L1" })
      yield* kill.release({ activation_event: activation_event!, reason: "Test." }, ann)
      yield* Agents.use((agents) => agents.suspend(agentId, {}, ben))
      assert.strictEqual(yield* obstacleOf(agentId), "agent_not_active")
      yield* Agents.use((agents) => agents.activate(agentId, ben))
      yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ben))
      assert.deepInclude((yield* inForce(agentId)).answer, { obstacle: "no_envelope", layers: [] })
    }).pipe(Effect.provide(governorWorld()))
  )
})
