import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ann, ben, governedAgent, key, refunds } from "../evaluations/testing/refunds.ts"
import { Evaluations } from "../evaluations/service.ts"
import { governorWorld } from "../testing/governor-world.ts"
import { Envelopes } from "./service.ts"

const { meters: { spent }, rules, signals } = refunds() as { readonly meters: { readonly spent: object }; readonly rules: ReadonlyArray<{ readonly id: string; readonly obligations?: unknown }>; readonly signals: { readonly amount: object } }
const verified = (source: string) => ({ signals: { ...signals, identity_verified: { type: "bool", source } }, rules: [...rules, { id: "unverified", outcome: "deny", when: [{ signal: "identity_verified", is: false }] }] })

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
