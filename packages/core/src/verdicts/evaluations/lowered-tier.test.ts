/**
 * An agent that lost a condition of its tier: it stays active and acts at a lower one. Spec: api "agents and registry";
 * decision 0038.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { DRILL_AGE_MS } from "@flyball/rules"
import { TestClock } from "effect/testing"
import { drillClock } from "../drills/drill-clock.ts"
import { reportLapses } from "../drills/drill-lapse.ts"
import { drilled } from "../drills/testing/drilled.ts"
import { envelopeTierEvidence } from "../envelopes/tier-evidence.ts"
import { Envelopes } from "../envelopes/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, ben, governedAgent, recomputed, refunds } from "./testing/refunds.ts"

const events = Effect.map(
  Storage.use(({ outbox }) => outbox.events({ limit: 1_000 })),
  (all) => all.flatMap(({ data, type }) => (type === "agent.tier_lowered" ? [data] : []))
)
const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

/**
 * Changes the identity and the tier of an agent as records of old chains do: a declared identity used to replace a
 * verified one.
 */
const attested = (id: string, verified: boolean) =>
  Storage.use((storage) =>
    Effect.gen(function* () {
      const { body, version } = (yield* storage.get("agents", id))!
      yield* storage.commit({
        puts: [
          {
            collection: "agents",
            id,
            expectedVersion: version,
            body: { ...body, identityVerified: verified, identitySource: "spiffe", identityRef: "r" },
            unique: { name: String(body["name"]) },
            keys: { org_unit: "ops" }
          }
        ],
        records: [
          {
            kind: "agent.identity_attested",
            agentId: id,
            parts: [{ name: "identity", bytes: new TextEncoder().encode('{"identity_ref":"r"}') }],
            body: {
              agent_id: id,
              checked_at: "2026-11-21T00:00:00.000Z",
              reason_code: "ok",
              source: "spiffe",
              verdict: verified ? "verified" : "declared",
              writer: writer.id
            }
          }
        ]
      })
    })
  )

const paying = refunds({ effects: { search: "read", refund: "money" } })
const pay = { tool: "refund", amount: 10 }

describe("an active agent that loses a condition of its tier", () => {
  it.effect("takes the floor of the tier below without its identity, and its own again with it", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent(paying)
      yield* attested(agentId, true)
      yield* agents.update(agentId, { autonomy_tier: "L3" }, ben)
      assert.deepInclude(yield* ask(agentId, pay), { outcome: "allow_with_notice", tier: "L3", effective_tier: "L3" })
      yield* attested(agentId, false)
      assert.deepInclude(yield* agents.get(agentId), { status: "active", autonomy_tier: "L3", effective_tier: "L2" })
      const lowered = yield* ask(agentId, pay)
      assert.deepInclude(lowered, {
        outcome: "require_review",
        matched_rule: "@tier_floor",
        tier: "L3",
        effective_tier: "L2"
      })
      assert.deepStrictEqual(
        lowered.trace.slice(0, 3).map(({ failed_on, id, step }) => [step, id, failed_on]),
        [
          ["kill", "kill", null],
          ["agent", "agent", null],
          ["tier", "L2", "L3 needs a verified identity"]
        ]
      )
      const explained = yield* Evaluations.use((evaluations) => evaluations.explain(lowered.id))
      assert.deepInclude(explained, {
        effective_tier: "L2",
        tier_reason: "The agent is registered at L3 and acts at L2: L3 needs a verified identity."
      })
      assert.notStrictEqual(explained.reason, "withheld")
      assert.deepStrictEqual(
        (yield* agents.list({ autonomy_tier: "L3" })).map(({ effective_tier }) => effective_tier),
        ["L2"]
      )
      yield* attested(agentId, true)
      assert.deepInclude(yield* ask(agentId, pay), { outcome: "allow_with_notice", effective_tier: "L3" })
      assert.strictEqual((yield* agents.find("refund bot"))!.effective_tier, "L3")
      yield* sound
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("has one event, in the commit of the withdrawal of its envelope", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const envelopes = yield* Envelopes
      const storage = yield* Storage
      const { agentId, envelopeId } = yield* governedAgent()
      assert.deepInclude(yield* agents.get(agentId), { effective_tier: "L2" })
      yield* envelopes.withdraw(envelopeId, {}, ann)
      assert.deepInclude(yield* agents.get(agentId), { status: "active", autonomy_tier: "L2", effective_tier: "L1" })
      const reported = {
        agent_id: agentId,
        autonomy_tier: "L2",
        effective_tier: "L1",
        missing: "published_envelope",
        writer: ann.id,
        resource: `/api/v1/agents/${agentId}`
      }
      assert.deepStrictEqual<unknown>(yield* events, [reported])
      const last = (yield* storage.outbox.events({ limit: 1_000 })).at(-1)!
      assert.strictEqual(last.type, "agent.tier_lowered")
      assert.strictEqual((yield* storage.record((yield* storage.head)!.seq))!.kind, "envelope.withdrawn")
      const denied = yield* ask(agentId, { tool: "search" })
      assert.deepInclude(denied, { outcome: "deny", matched_rule: "@no_envelope", tier: "L2", effective_tier: "L1" })
      assert.deepStrictEqual(
        denied.trace.map(({ step }) => step),
        ["kill", "agent", "tier", "envelope"]
      )
      // A trial that ends, and a draft: nobody loses anything.
      yield* envelopes.update(envelopeId, { envelope: refunds({ params: { unused: 1 } }) }, ann)
      yield* envelopes.publish(envelopeId, {}, ben)
      assert.deepInclude(yield* agents.get(agentId), { effective_tier: "L2" })
      yield* envelopes.update(envelopeId, { envelope: refunds() }, ann)
      yield* envelopes.publish(envelopeId, { mode: "shadow" }, ben)
      yield* agents.suspend(agentId, {}, ben)
      yield* envelopes.withdraw(envelopeId, {}, ann)
      assert.strictEqual((yield* events).length, 1)
      assert.deepInclude(yield* agents.get(agentId), { status: "suspended", effective_tier: "L2" })
      yield* sound
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("has one each where the envelope was that of its unit", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const envelopes = yield* Envelopes
      const unit = yield* envelopes.create({ name: "All", org_unit: "ops", envelope: refunds() }, ann)
      yield* envelopes.publish(unit.id, {}, ben)
      const ids: Array<string> = []
      for (const [name, tier] of [
        ["one", "L2"],
        ["two", "L2"],
        ["low", "L1"],
        ["draft", "L2"]
      ] as const) {
        const { agent } = yield* agents.register(
          { name, org_unit: "ops", autonomy_tier: tier, owner_name: "Ada", owner_email: "ada@example.org" },
          writer
        )
        if (name !== "draft") yield* agents.activate(agent.id, ben)
        ids.push(agent.id)
      }
      yield* envelopes.withdraw(unit.id, {}, ann)
      assert.deepStrictEqual((yield* events).map((data) => data["agent_id"]).sort(), ids.slice(0, 2).sort())
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("is found by the check of a store, and by replay, where a record says another tier", () => {
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        storage.commit(
          change.records?.[0]?.kind !== "evaluation.made"
            ? change
            : {
                ...change,
                records: change.records.map((record) => ({ ...record, body: { ...record.body, effective_tier: "L2" } }))
              }
        )
    })
    return Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      yield* ask(agentId, { tool: "search" })
      yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
      const { seq } = yield* ask(agentId, { tool: "search" })
      const { differences } = yield* Replay.use(({ check }) => check)
      assert.deepStrictEqual(differences, [
        { collection: "records", id: String(seq), path: "/body/effective_tier", expected: "L1", found: "L2" }
      ])
      const [first, second] = yield* recomputed
      assert.strictEqual(first!.verdict, "ok")
      assert.deepInclude(second, { seq, verdict: "tier_mismatch", reason: "The agent acts at L1; the record says L2." })
    }).pipe(Effect.provide(Layer.fresh(governorWorld(wrap))))
  })

  it.effect("goes by the attested drill at the time of the evaluation, to the millisecond", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent(paying)
      yield* attested(agentId, true)
      assert.strictEqual(
        (yield* Effect.flip(agents.update(agentId, { autonomy_tier: "L4" }, ben)))._tag,
        "TierGateUnmet"
      )
      yield* drilled(agentId)
      yield* agents.update(agentId, { autonomy_tier: "L4" }, ben)
      assert.deepInclude(yield* ask(agentId, pay), { effective_tier: "L4" })
      yield* TestClock.adjust(DRILL_AGE_MS)
      assert.deepInclude(yield* ask(agentId, pay), { effective_tier: "L4" })
      yield* TestClock.adjust(1)
      assert.deepInclude(yield* ask(agentId, pay), { effective_tier: "L3" })
      assert.deepInclude(yield* agents.get(agentId), { autonomy_tier: "L4", effective_tier: "L3" })
      yield* drilled(agentId)
      assert.deepInclude(yield* ask(agentId, pay), { effective_tier: "L4" })
      yield* sound
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("is reported within a minute when its drill became too old, once for each attestation", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent(paying)
      const { agentId: unattested } = yield* governedAgent(paying, "another bot")
      yield* attested(agentId, true)
      yield* attested(unattested, true)
      yield* drilled(agentId)
      yield* agents.update(agentId, { autonomy_tier: "L4" }, ben)
      const lapses = Effect.provide(reportLapses, envelopeTierEvidence)
      yield* TestClock.adjust(DRILL_AGE_MS)
      assert.strictEqual(yield* lapses, 0)
      yield* TestClock.adjust(1)
      const expected = {
        agent_id: agentId,
        autonomy_tier: "L4",
        effective_tier: "L3",
        missing: "attested_drill",
        writer: "system:drill"
      }
      // The clock polls at once when it starts.
      yield* Effect.scoped(Effect.andThen(Layer.build(drillClock), TestClock.adjust(1)))
      const [one, ...more] = yield* events
      assert.deepInclude(one, expected)
      assert.deepStrictEqual(more, [])
      assert.strictEqual(yield* lapses, 0)
      yield* drilled(agentId)
      assert.strictEqual(yield* lapses, 0)
      yield* TestClock.adjust(DRILL_AGE_MS + 1)
      assert.strictEqual(yield* lapses, 1)
      const all = yield* events
      assert.lengthOf(all, 2)
      assert.deepInclude(all[1], expected)
      yield* agents.suspend(agentId, { reason: "r" }, ben)
      assert.strictEqual(yield* lapses, 0)
      yield* sound
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )
})
