/** Every explanation has a sentence. Spec: api.md "bounded autonomy", `explain`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { Envelopes } from "../envelopes/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, ben, governedAgent, refunds } from "./testing/refunds.ts"

const explained = (agentId: string, signals: { readonly [name: string]: unknown }) =>
  Effect.gen(function* () {
    const { id } = yield* ask(agentId, signals)
    return yield* Evaluations.use((evaluations) => evaluations.explain(id))
  })

const paying = refunds({ effects: { search: "read", refund: "money" } })
const floor = "`refund` is `money`: at L0 it is denied, from L1 reviewed, alone from L3 with a verified identity."
const none = "No change of up to three signals or meters makes the verdict less restrictive."

describe("the sentence of an explanation", () => {
  it.effect("names the tier floor, where nothing that the agent sends can change its verdict", () =>
    Effect.gen(function* () {
      const agent = yield* registered("till")
      const envelopes = yield* Envelopes
      const noSearch = (paying["rules"] as ReadonlyArray<object>).slice(1)
      const signals = { ...(paying["signals"] as object), tool: { type: "enum", values: ["refund"], source: "caller" } }
      const text = { ...paying, signals, effects: { refund: "money" }, rules: noSearch }
      const { id } = yield* envelopes.create({ name: "Till", agent_id: agent.id, envelope: text }, ann)
      yield* envelopes.publish(id, {}, ben)
      yield* Agents.use((agents) => agents.activate(agent.id, ben))
      const found = yield* explained(agent.id, { tool: "refund", amount: 10 })
      assert.deepInclude(found, { outcome: "deny", matched_rule: "@tier_floor", nearest: null, reason: "none" })
      assert.strictEqual(found.sentence, `${floor} The agent acted at L0. ${none}`)
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("names the rule and its reason, the nearest verdict, and its range as an interval", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const large = yield* explained(agentId, { tool: "refund", amount: 5_000 })
      assert.strictEqual(
        large.sentence,
        "The rule `large` decides: the action is to be reviewed. " + large.nearest!.sentence
      )
      assert.deepEqual(
        large.nearest!.changes.map(({ interval }) => interval),
        [{ at_least: 0, at_most: 2_000 }]
      )
      const other = yield* explained(agentId, { tool: "search" })
      assert.strictEqual(
        other.sentence,
        "The rule `search` decides: the action is allowed. No verdict is less restrictive."
      )
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("names an invalid signal by its type, and a state of the agent", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const { reason, sentence } = yield* explained(agentId, { tool: "refund", amount: "SECRET" })
      assert.deepEqual(
        [reason, sentence],
        ["no_cell", "`amount` should be an integer from 0 to 100000 (EUR/100); received a string."]
      )
      yield* Agents.use((agents) => agents.suspend(agentId, {}, ben))
      assert.include((yield* explained(agentId, { tool: "search" })).sentence, "The agent was suspended")
      yield* Agents.use((agents) => agents.activate(agentId, ben))
      yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
      assert.include((yield* explained(agentId, { tool: "search" })).sentence, "No envelope was in force")
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("names the signal in the answer and the trace too, by its name where no envelope declares it", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const expected = "`note` is declared by no envelope in force: expected one of `amount`, `tool`."
      const undeclared = yield* ask(agentId, { tool: "search", note: "SECRET" })
      assert.deepInclude(undeclared, { matched_rule: "@invalid_signal", reason: expected })
      assert.deepInclude(undeclared.trace.at(-1), { step: "signals", id: "note", failed_on: expected })
      assert.deepEqual(yield* Evaluations.use((evaluations) => evaluations.get(undeclared.id)), undeclared)
      const { reason, trace } = yield* ask(agentId, { tool: "refund", amount: -1 })
      assert.match(reason!, /^`amount` should be an integer .* received an integer below 0\.$/)
      assert.deepInclude(trace.at(-1), { id: "amount", failed_on: reason })
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("gives the reason of the rule that decided with the verdict", () =>
    Effect.gen(function* () {
      const rules = [{ id: "all", outcome: "deny", reason: "Not on Sundays.", when: [] }]
      const { agentId } = yield* governedAgent(refunds({ rules }))
      assert.deepInclude(yield* ask(agentId, { tool: "search" }), { matched_rule: "all", reason: "Not on Sundays." })
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("names a full meter, and the tier floor's class where an approval would be needed", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(
        refunds({
          effects: { search: "read", refund: "money" },
          meters: {
            spent: {
              op: "sum",
              of: "amount",
              where: { tool: ["search"] },
              window_ms: 86_400_000,
              key: ["agent_id"],
              max_count: 1
            }
          }
        })
      )
      const floored = yield* explained(agentId, { tool: "refund", amount: 10 })
      assert.include(floored.sentence, `${floor} The agent acted at L2.`)
      yield* explained(agentId, { tool: "search", amount: 1 })
      const full = yield* explained(agentId, { tool: "search", amount: 1 })
      assert.deepInclude(full, { matched_rule: "@budget:spent", reason: "no_cell" })
      assert.include(full.sentence, "The meter `spent` stands at 1 and has no room for this action")
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )
})
