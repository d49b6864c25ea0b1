import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ann, ask, ben, governedAgent, key, refunds } from "../evaluations/testing/refunds.ts"
import { Evaluations } from "../evaluations/service.ts"
import { Agents } from "../agents/service.ts"
import { governorWorld, registered } from "../testing/governor-world.ts"
import { Envelopes } from "./service.ts"

const { meters: { spent }, rules, signals } = refunds() as { readonly meters: { readonly spent: object }; readonly rules: ReadonlyArray<{ readonly id: string; readonly obligations?: unknown }>; readonly signals: { readonly amount: object } }
const verified = (source: string) => ({ signals: { ...signals, identity_verified: { type: "bool", source } }, rules: [...rules, { id: "unverified", outcome: "deny", when: [{ signal: "identity_verified", is: false }] }] })

const tool = { type: "enum", values: ["search", "refund"], source: "caller" }
const amount = { type: "int", min: 0, max: 1_000, source: "caller" }
const anything = { id: "anything", outcome: "allow", when: [] }
const bounds = (more: { readonly [member: string]: unknown } = {}) => ({ semantics: "envelope/1", signals: { tool, amount }, effects: { search: "read", refund: "read" }, rules: [anything], default: { outcome: "deny" }, ...more })
const denying = (signal: string, test: object) => bounds({ rules: [anything, { id: "no", outcome: "deny", when: [{ signal, ...test }] }] })
const wide = bounds({ signals: { tool: { ...tool, values: ["search", "refund", "wire"] }, amount: { ...amount, max: 1_000_000 } }, effects: { search: "read", refund: "read", wire: "read" } })
const budget = { spent: { op: "sum", of: "amount", window_ms: 86_400_000, key: ["agent_id"] } }
const capped = bounds({ meters: budget, rules: [anything, { id: "cap", outcome: "deny", when: [{ meter: "spent", after_gt: 1_000 }] }] })

/** An active agent under the envelope of its org unit, both in force; two people published them. */
const underUnit = (ofUnit: { readonly [member: string]: unknown }) => Effect.gen(function*() {
  const envelopes = yield* Envelopes
  const agent = yield* registered("bot")
  const unit = yield* envelopes.create({ name: "Unit", org_unit: "ops", envelope: ofUnit }, ann)
  yield* envelopes.publish(unit.id, {}, ben)
  yield* Agents.use((agents) => agents.activate(agent.id, ben))
  return { agentId: agent.id, unitId: unit.id }
})
const ownEnvelope = (agentId: string, envelope: { readonly [member: string]: unknown }) => Envelopes.use((envelopes) => envelopes.create({ name: "Own", agent_id: agentId, envelope }, ann))

describe("the gate of publication for an org unit and its agents", () => {
  for (const [name, from, to, action] of [
    ["bounds that end where the unit's integers do", denying("amount", { gt: 500 }), denying("amount", { between: [501, 1_000] }), { tool: "refund", amount: 900_000 }],
    ["a list of all tools that the unit knows", denying("tool", { nin: ["search"] }), denying("tool", { in: ["refund"] }), { tool: "wire", amount: 1 }]
  ] as const) it.effect(`asks for a second person where what is equal in the unit's words frees an agent that knows more: ${name}`, () => Effect.gen(function*() {
    const envelopes = yield* Envelopes
    const { agentId, unitId } = yield* underUnit(from)
    yield* envelopes.update(unitId, { envelope: to }, ann)
    assert.strictEqual((yield* envelopes.publish(unitId, {}, ann)).change, "equal")
    yield* envelopes.update(unitId, { envelope: from }, ann)
    yield* envelopes.publish(unitId, {}, ann)
    yield* envelopes.publish((yield* ownEnvelope(agentId, wide)).id, {}, ben)
    assert.deepInclude(yield* ask(agentId, action), { outcome: "deny", matched_rule: "no" })
    yield* envelopes.update(unitId, { envelope: to }, ann)
    const refused = yield* Effect.flip(envelopes.publish(unitId, {}, ann))
    assert.strictEqual(refused._tag, "SecondApproverRequired")
    assert.match(refused._tag === "SecondApproverRequired" ? refused.sentence ?? "" : "", /^With the envelope env_[0-9a-z]+ of an agent of this org unit: Newly allowed/)
    assert.strictEqual((yield* ask(agentId, action)).outcome, "deny")
    assert.strictEqual((yield* envelopes.publish(unitId, {}, ben)).change, "loosens")
  }).pipe(Effect.provide(governorWorld())))

  it.effect("asks for a second person where a meter would belong to another envelope and begin anew", () => Effect.gen(function*() {
    const envelopes = yield* Envelopes
    const { agentId, unitId } = yield* underUnit(bounds())
    yield* envelopes.publish((yield* ownEnvelope(agentId, capped)).id, {}, ben)
    for (const outcome of ["allow", "allow", "deny"]) assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, outcome)
    yield* envelopes.update(unitId, { envelope: bounds({ meters: budget }) }, ann)
    assert.strictEqual((yield* Effect.flip(envelopes.publish(unitId, {}, ann)))._tag, "SecondApproverRequired")
    assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, "deny")
    // Another name is another meter, and nobody's budget begins anew.
    yield* envelopes.update(unitId, { envelope: bounds({ meters: { unit_spent: budget.spent } }) }, ann)
    assert.strictEqual((yield* envelopes.publish(unitId, {}, ann)).change, "equal")
    assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, "deny")
  }).pipe(Effect.provide(governorWorld())))

  for (const [name, missing] of [["requires", {}], ["counts as the greatest", { on_missing: 1_000 }], ["lets be absent", { optional: true }]] as const) {
    it.effect(`lets no agent's layer say what stands in for a signal that the unit ${name}`, () => Effect.gen(function*() {
      const envelopes = yield* Envelopes
      const { agentId } = yield* underUnit(bounds({ signals: { tool, amount: { ...amount, ...missing } }, rules: [{ id: "small", outcome: "allow", when: [{ signal: "amount", lte: 100 }] }] }))
      const before = yield* ask(agentId, { tool: "search" })
      const own = yield* ownEnvelope(agentId, bounds({ signals: { tool, amount: { ...amount, on_missing: 0 } } }))
      const published = yield* Effect.exit(envelopes.publish(own.id, {}, ann))
      assert.strictEqual(published._tag, name === "requires" ? "Success" : "Failure")
      const after = yield* ask(agentId, { tool: "search" })
      assert.deepStrictEqual([after.outcome, after.matched_rule], [before.outcome, before.matched_rule])
      assert.strictEqual(after.outcome, "deny")
    }).pipe(Effect.provide(governorWorld())))
  }

  it.effect("takes a unit that requires a signal which its agents let be missing: it is denied then", () => Effect.gen(function*() {
    const envelopes = yield* Envelopes
    const lenient = bounds({ signals: { tool, amount: { ...amount, on_missing: 0 } } })
    const { agentId, unitId } = yield* underUnit(lenient)
    yield* envelopes.publish((yield* ownEnvelope(agentId, lenient)).id, {}, ben)
    assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "allow")
    yield* envelopes.update(unitId, { envelope: bounds() }, ann)
    yield* envelopes.publish(unitId, {}, ben)
    assert.deepInclude(yield* ask(agentId, { tool: "search" }), { outcome: "deny", matched_rule: "@missing_signal" })
  }).pipe(Effect.provide(governorWorld())))
})

describe("the gate of publication", () => {
  for (const [name, from, to] of [
    ["a shorter window", {}, { meters: { spent: { ...spent, window_ms: 1 } } }],
    ["other actions that count", {}, { meters: { spent: { ...spent, where: { tool: ["search"] } } } }],
    ["another key", {}, { meters: { spent: { ...spent, key: ["tool"] } } }],
    ["no reviewers", {}, { rules: rules.map(({ obligations: _, ...rule }) => rule) }],
    ["less for what is missing", { signals: { ...signals, amount: { ...signals.amount, on_missing: 100_000 } } }, {}],
    ["a signal that the caller says now", verified("server"), verified("caller")]
  ] as const) it.effect(`asks for a second person: ${name}`, () => Effect.gen(function*() {
    const envelopes = yield* Envelopes
    const { envelopeId } = yield* governedAgent(refunds(from))
    yield* envelopes.update(envelopeId, { envelope: refunds(to) }, ann)
    assert.strictEqual((yield* Effect.flip(envelopes.publish(envelopeId, {}, ann)))._tag, "SecondApproverRequired")
    assert.strictEqual((yield* envelopes.publish(envelopeId, {}, ben)).change, "unknown")
  }).pipe(Effect.provide(governorWorld())))

  it.effect("shows an evaluation that was made before only in scope", () => Effect.gen(function*() {
    const evaluations = yield* Evaluations
    const { agentId } = yield* governedAgent()
    const input = { agent_id: agentId, client_ref: "same", signals: { tool: "search" } }
    yield* evaluations.evaluate(input, key)
    for (const signals of [input.signals, {}]) assert.strictEqual((yield* Effect.flip(evaluations.evaluate({ ...input, signals }, key, { orgUnits: ["sales"] })))._tag, "AgentNotFound")
  }).pipe(Effect.provide(governorWorld())))
})
