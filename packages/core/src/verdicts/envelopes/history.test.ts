import { assert, describe, it } from "@effect/vitest"
import type { AgentUpdate } from "@flyball/contract"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../registry/agents/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { ann, ask, ben, governedAgent, refunds } from "../evaluations/testing/refunds.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Envelopes } from "./service.ts"

const {
  meters: { spent },
  rules,
  signals
} = refunds() as {
  readonly meters: { readonly spent: object }
  readonly rules: ReadonlyArray<object>
  readonly signals: object
}
/** Envelope whose verdicts also depend on the agent's registered facts. */
const watchful = refunds({
  signals: {
    ...signals,
    risk_class: { type: "enum", values: ["unclassified", "minimal", "high"], source: "server" },
    blast_max_single: { type: "int", min: 0, max: 100_000, source: "server", optional: true }
  },
  rules: [
    ...rules,
    { id: "risky", outcome: "deny", when: [{ signal: "risk_class", eq: "high" }] },
    { id: "beyond", outcome: "deny", when: [{ signal: "blast_max_single", gt: 5_000 }] }
  ]
})
/** The backtest of a draft that says the same as what is in force. */
const backtestOfSame = (
  envelopeId: string,
  envelope: { readonly [member: string]: unknown },
  meters: "recorded" | "counterfactual" = "recorded"
) =>
  Effect.gen(function* () {
    const envelopes = yield* Envelopes
    yield* envelopes.update(envelopeId, { envelope }, ann)
    const { classes, not_replayable, total } = yield* envelopes.backtest(envelopeId, { meters })
    return { total, unchanged: classes["unchanged"], not_replayable }
  })

describe("the history that a draft is tested on", () => {
  it.effect("has the agent as it was at each evaluation, not as it is now", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId, envelopeId } = yield* governedAgent(watchful)
      const outcomes: Array<string> = []
      const changes: ReadonlyArray<AgentUpdate> = [
        {},
        { risk_class: "high" },
        { risk_class: "minimal" },
        { blast_radius: { max_single: 9_000 } },
        { blast_radius: {} }
      ]
      for (const change of changes) {
        yield* agents.update(agentId, change, ben)
        outcomes.push((yield* ask(agentId, { tool: "search" })).matched_rule)
      }
      assert.deepStrictEqual(outcomes, ["search", "risky", "search", "beyond", "search"])
      for (const meters of ["recorded", "counterfactual"] as const)
        assert.deepStrictEqual(yield* backtestOfSame(envelopeId, watchful, meters), {
          total: 5,
          unchanged: 5,
          not_replayable: {}
        })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has no profile of an agent that was erased since, and leaves out what would need it", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId, envelopeId } = yield* governedAgent(watchful)
      yield* agents.update(agentId, { blast_radius: { max_single: 4_000 } }, ben)
      yield* ask(agentId, { tool: "search" })
      const records = yield* Storage.use((storage) =>
        storage.records({ agentId, kinds: ["agent.registered", "agent.updated"], limit: 100 })
      )
      const reported = yield* Storage.use((storage) => storage.parts(records.map(({ seq }) => seq)))
      for (const { seq } of reported.filter(({ name }) => name === "profile"))
        yield* Erasure.use((erasure) => erasure.erase({ seq, name: "profile", reason: "subject_request" }, ben))
      assert.deepStrictEqual(yield* backtestOfSame(envelopeId, watchful), {
        total: 1,
        unchanged: 0,
        not_replayable: { "server_signal_not_recorded:blast_max_single": 1 }
      })
      const classed = refunds({
        signals: {
          ...signals,
          risk_class: { type: "enum", values: ["unclassified", "minimal", "high"], source: "server" }
        }
      })
      assert.deepStrictEqual(yield* backtestOfSame(envelopeId, classed), { total: 1, unchanged: 1, not_replayable: {} })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("says what an identical draft says where the number of actions was bounded", () =>
    Effect.gen(function* () {
      const twice = refunds({ meters: { spent: { ...spent, max_count: 2 } } })
      const { agentId, envelopeId } = yield* governedAgent(twice)
      const matched: Array<string> = []
      for (const tool of ["refund", "refund", "refund", "search", "refund"])
        matched.push((yield* ask(agentId, { tool, amount: 10 })).matched_rule)
      assert.deepStrictEqual(matched, ["@tier_floor", "@tier_floor", "@budget:spent", "search", "@budget:spent"])
      for (const meters of ["recorded", "counterfactual"] as const)
        assert.deepStrictEqual(yield* backtestOfSame(envelopeId, twice, meters), {
          total: 5,
          unchanged: 5,
          not_replayable: {}
        })
      const lower = yield* backtestOfSame(envelopeId, refunds({ meters: { spent: { ...spent, max_count: 1 } } }))
      // Before the first one there may have been another, settled at nothing; before the second there was one for
      // certain.
      assert.deepStrictEqual(lower, { total: 5, unchanged: 3, not_replayable: { "meter_count:spent": 1 } })
      const higher = yield* backtestOfSame(envelopeId, refunds({ meters: { spent: { ...spent, max_count: 3 } } }))
      assert.deepStrictEqual(higher, { total: 5, unchanged: 3, not_replayable: { "meter_count:spent": 2 } })
      yield* TestClock.adjust(86_400_000)
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 10 })).matched_rule, "@tier_floor")
      assert.deepStrictEqual(yield* backtestOfSame(envelopeId, twice), { total: 6, unchanged: 6, not_replayable: {} })
    }).pipe(Effect.provide(governorWorld()))
  )

  for (const [name, from, to, signals, agent] of [
    [
      "a meter behind the one that was full",
      { meters: { calls: { op: "count", key: ["agent_id"], window_ms: 86_400_000, max_count: 1 }, spent } },
      {},
      {},
      {}
    ],
    [
      "a rule that halts",
      { rules: [...rules, { id: "stop", outcome: "halt", when: [{ signal: "amount", eq: 7 }] }] },
      {},
      { amount: 7 },
      {}
    ],
    [
      "the tier floor, which denies before any meter",
      {},
      { effects: { search: "read", refund: "read" } },
      {},
      { autonomy_tier: "L0" }
    ]
  ] as const)
    it.effect(`does not say how many actions a window held where ${name} decided`, () =>
      Effect.gen(function* () {
        const { agentId, envelopeId } = yield* governedAgent(refunds(from))
        yield* ask(agentId, { tool: "refund", amount: 1 })
        yield* Agents.use((agents) => agents.update(agentId, agent, ben))
        assert.include(["deny", "halt"], (yield* ask(agentId, { tool: "refund", amount: 1, ...signals })).outcome)
        const { not_replayable, unchanged } = yield* backtestOfSame(envelopeId, refunds(to))
        assert.deepStrictEqual(
          { not_replayable, unchanged },
          { not_replayable: { "meter_count:spent": 1 }, unchanged: 1 }
        )
      }).pipe(Effect.provide(governorWorld()))
    )
})
