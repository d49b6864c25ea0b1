import { formatInstant } from "@flyball/evidence"
import { assert, describe, it } from "@effect/vitest"
import type { DrillIn } from "@flyball/contract"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { unitScope } from "../../foundation/scope.ts"
import { systemHost } from "../../foundation/writer.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { ann, ask, ben, governedAgent, recomputed } from "../evaluations/testing/refunds.ts"
import { recordExpected } from "../kill/expected.ts"
import { Kill } from "../kill/service.ts"
import { drillClock } from "./drill-clock.ts"
import { Drills } from "./service.ts"
import { acknowledged, drilled } from "./testing/drilled.ts"

const drill = (target_id: string, more: Partial<DrillIn> = {}): DrillIn => ({
  target_type: "agent",
  target_id,
  mode: "shadow",
  scenario: "It pays twice.",
  slo_ms: 5_000,
  ...more
})
const start = (target_id: string, more: Partial<DrillIn> = {}) =>
  Drills.use((drills) => drills.start(drill(target_id, more), ann))
const complete = (id: string, writer = ann) => Drills.use((drills) => drills.complete(id, writer))
const attest = (id: string, writer = ben) => Drills.use((drills) => drills.attest(id, writer))
const status = (id: string) => Kill.use((kill) => kill.status({ type: "agent", id }))
const head = Storage.use((storage) => Effect.map(storage.head, (found) => found?.seq))
/** The tag of the refusal of an act, which may record nothing. */
const refused = <A, E extends { readonly _tag: string }, R>(act: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* head
    const { _tag } = yield* Effect.flip(act)
    assert.strictEqual(yield* head, before)
    return _tag
  })
const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})
/** Instances seen in the hour before. */
const seen = (agentId: string, ...instances: ReadonlyArray<string>) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      instances.map((instance_id, n) => ({
        client_ref: `seen-${instance_id}-${n}`,
        kind: "tool_call",
        action: "pay",
        status: "ok",
        instance_id
      })),
      systemHost
    )
  )

const world = Layer.fresh(governorWorld())

describe("a drill", () => {
  it.effect("in shadow shows in the status, changes no verdict, and measures who acknowledged when", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* seen(agentId, "a", "b", "c")
      const started = yield* start(agentId)
      assert.deepInclude(started, {
        target_id: agentId,
        mode: "shadow",
        status: "started",
        started_by: ann.id,
        max_duration_ms: 300_000,
        result: null,
        attested_at: null
      })
      assert.deepInclude(yield* status(agentId), {
        halted: false,
        drill: true,
        response: "halt",
        effective_response: null,
        activation_event: started.activation_event
      })
      assert.deepInclude(yield* ask(agentId, { tool: "search" }), { outcome: "allow" })
      yield* TestClock.adjust(100)
      yield* acknowledged(started.activation_event, agentId, "b")
      yield* TestClock.adjust(700)
      yield* acknowledged(started.activation_event, agentId, "a")
      const completed = yield* complete(started.id)
      assert.deepInclude(completed, { status: "completed", completed_by: ann.id })
      assert.deepStrictEqual(completed.result, {
        expected: 3,
        acknowledged: 2,
        missed: [{ agent_id: agentId, instance_id: "c" }],
        unlisted: 0,
        p50_ms: 100,
        p95_ms: 800,
        max_ms: 800,
        met: false
      })
      assert.deepInclude(yield* status(agentId), { halted: false, drill: false, activation_event: null })
      assert.deepInclude(yield* attest(started.id), { status: "attested", attested_by: ben.id })
      assert.deepStrictEqual(
        yield* Drills.use(({ get }) => get(started.id)),
        yield* Drills.use(({ list }) => list()).pipe(Effect.map(([one]) => one!))
      )
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("live really halts, and releases itself after its time, by any process", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { activation_event, id } = yield* start(agentId, { mode: "live", max_duration_ms: 60_000 })
      yield* Layer.build(drillClock)
      assert.deepInclude(yield* ask(agentId, { tool: "search" }), {
        outcome: "deny",
        matched_rule: "@killed",
        activation_event
      })
      yield* TestClock.adjust(59_000)
      assert.deepInclude(yield* status(agentId), { halted: true, drill: true })
      yield* TestClock.adjust(2_000)
      assert.deepInclude(yield* status(agentId), { halted: false, drill: false })
      assert.deepInclude(yield* ask(agentId, { tool: "search" }), { outcome: "allow" })
      assert.deepInclude(yield* Kill.use((kill) => kill.activation(activation_event)), { released_by: "system:drill" })
      // It has its result at once.
      const ended = yield* Drills.use((drills) => drills.get(id))
      assert.deepInclude(ended, { status: "completed", completed_by: "system:drill" })
      assert.isNotNull(ended.result)
      assert.strictEqual(yield* refused(complete(id, ben)), "DrillCompleted")
      yield* sound
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("meets its hypothesis when every instance acknowledges in time, the last millisecond included", () =>
    Effect.gen(function* () {
      const { id: agentId } = yield* registered("courier")
      yield* seen(agentId, "a")
      for (const [lateMs, met] of [
        [0, true],
        [1, false]
      ] as const) {
        const { activation_event, id } = yield* start(agentId, { slo_ms: 250 })
        yield* TestClock.adjust(250 + lateMs)
        yield* acknowledged(activation_event, agentId, "a")
        assert.deepInclude((yield* complete(id)).result, { max_ms: 250 + lateMs, p50_ms: 250 + lateMs, met })
      }
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("ends a live drill that still halts, and never a real halt beside it", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { id } = yield* start(agentId, { mode: "live" })
      const real = yield* Kill.use((kill) =>
        kill.activate({ target_type: "agent", target_id: agentId, response: "halt", reason: "Real." }, ann)
      )
      assert.deepInclude(yield* status(agentId), { halted: true, drill: false })
      yield* complete(id)
      assert.deepInclude(yield* status(agentId), {
        halted: true,
        drill: false,
        activation_event: real.activation_event
      })
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("is attested once, by another person, when it is completed and an instance acknowledged", () =>
    Effect.gen(function* () {
      const { id: agentId } = yield* registered("courier")
      const first = yield* start(agentId)
      assert.strictEqual(yield* refused(attest(first.id)), "DrillNotAttestable")
      yield* complete(first.id)
      assert.strictEqual(yield* refused(attest(first.id)), "DrillNotAttestable")
      const second = yield* start(agentId)
      yield* acknowledged(second.activation_event, agentId, "a")
      yield* complete(second.id, ben)
      assert.strictEqual(yield* refused(attest(second.id, ann)), "SecondApproverRequired")
      yield* attest(second.id)
      assert.strictEqual(yield* refused(attest(second.id)), "DrillNotAttestable")
      const third = yield* start(agentId)
      yield* acknowledged(third.activation_event, agentId, "a")
      yield* complete(third.id)
      yield* TestClock.adjust(30 * 86_400_000 + 1)
      assert.strictEqual(yield* refused(attest(third.id)), "DrillNotAttestable")
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("lets an agent in draft reach L4, as far as the drill goes", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.update(id, { autonomy_tier: "L4" }, ben)
      const missing = Effect.flip(agents.activate(id, ben)).pipe(
        Effect.map((error) => (error._tag === "TierGateUnmet" ? error.missing : error._tag))
      )
      assert.deepStrictEqual(yield* missing, ["published_envelope", "verified_identity", "attested_drill"])
      yield* drilled(id)
      assert.deepStrictEqual(yield* missing, ["published_envelope", "verified_identity"])
      yield* TestClock.adjust(30 * 86_400_000 + 1)
      assert.deepStrictEqual(yield* missing, ["published_envelope", "verified_identity", "attested_drill"])
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("that was attested and not met lets no agent reach L4", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.update(id, { autonomy_tier: "L4" }, ben)
      const late = yield* start(id)
      yield* TestClock.adjust(5_001)
      yield* acknowledged(late.activation_event, id, "one")
      assert.isFalse((yield* complete(late.id)).result!.met)
      assert.deepInclude(yield* attest(late.id), { status: "attested" })
      assert.deepInclude(yield* Effect.flip(agents.activate(id, ben)), {
        _tag: "TierGateUnmet",
        missing: ["published_envelope", "verified_identity", "attested_drill"]
      })
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("is not found for another unit, and refused for a decommissioned or unknown agent", () =>
    Effect.gen(function* () {
      const drills = yield* Drills
      const { id: agentId } = yield* registered("courier", "ward 7")
      const { id } = yield* start(agentId)
      const there = unitScope("ward 8")
      assert.strictEqual(yield* refused(drills.start(drill(agentId), ann, there)), "AgentNotFound")
      assert.strictEqual(yield* refused(drills.get(id, there)), "DrillNotFound")
      assert.strictEqual(yield* refused(drills.complete(id, ann, there)), "DrillNotFound")
      assert.strictEqual(yield* refused(drills.attest(id, ben, there)), "DrillNotFound")
      assert.deepStrictEqual(yield* drills.list({}, there), [])
      assert.lengthOf(yield* drills.list({}, unitScope("ward 7")), 1)
      assert.strictEqual(
        yield* refused(drills.start(drill("gpt-9", { target_type: "model" }), ann, there)),
        "OrgUnitNotAllowed"
      )
      assert.strictEqual(yield* refused(start(`mdl_${"0".repeat(26)}`, { target_type: "model" })), "ModelNotFound")
      assert.strictEqual(yield* refused(start(`agt_${"0".repeat(26)}`)), "AgentNotFound")
      assert.strictEqual(yield* refused(start("flyball:channel")), "AgentNotFound")
      assert.strictEqual(yield* refused(complete(`drl_${"0".repeat(26)}`)), "DrillNotFound")
      yield* Agents.use((agents) => agents.decommission(agentId, ben))
      assert.strictEqual(yield* refused(start(agentId)), "InvalidTransition")
    }).pipe(Effect.provide(world))
  )

  it.effect("of a model counts for no agent's tier", () =>
    Effect.gen(function* () {
      const { agent } = yield* Agents.use((agents) =>
        agents.register({ name: "a", org_unit: "ops", model_ids: ["gpt-9"] }, systemHost)
      )
      const { activation_event, id } = yield* start("gpt-9", { target_type: "model" })
      yield* acknowledged(activation_event, agent.id, "one")
      assert.deepInclude((yield* complete(id)).result, { acknowledged: 1, met: true })
      yield* attest(id)
      const document = yield* Storage.use((storage) => storage.get("agents", agent.id))
      assert.notProperty(document!.body, "drillAttestedAtMs")
      yield* sound
    }).pipe(Effect.provide(world))
  )

  it.effect("forgets its scenario when that part is erased", () =>
    Effect.gen(function* () {
      const { id: agentId } = yield* registered("courier")
      const { id } = yield* start(agentId)
      const [record] = yield* Storage.use((storage) => storage.records({ kinds: ["drill.started"], limit: 1 }))
      assert.notInclude(new TextDecoder().decode(record!.bytes), "pays")
      yield* Erasure.use((erasure) =>
        erasure.erase({ seq: record!.seq, name: "scenario", reason: "subject_request" }, systemHost)
      )
      assert.strictEqual((yield* Drills.use(({ get }) => get(id))).scenario, null)
      yield* sound
    }).pipe(Effect.provide(world))
  )
})

describe("replay of drills", () => {
  const lie = (change: { readonly [name: string]: unknown }) =>
    Storage.use((storage) =>
      Effect.gen(function* () {
        const { id: agentId } = yield* registered("courier")
        yield* seen(agentId, "a", "b")
        const { activation_event, id } = yield* start(agentId)
        yield* TestClock.adjust(40)
        yield* acknowledged(activation_event, agentId, "a")
        assert.strictEqual(yield* recordExpected, 1)
        const asOf = yield* storage.asOf
        yield* storage.commit({
          records: [
            {
              kind: "drill.completed",
              agentId,
              body: {
                acknowledged: 1,
                agent_id: agentId,
                as_of_seq: asOf.seq,
                completed_at: formatInstant(asOf.ms),
                drill_id: id,
                expected: 2,
                max_ms: 40,
                met: false,
                p50_ms: 40,
                p95_ms: 40,
                writer: ann.id,
                ...change
              },
              parts: [
                {
                  name: "missed",
                  bytes: new TextEncoder().encode(JSON.stringify([{ agent_id: agentId, instance_id: "b" }]))
                }
              ]
            }
          ]
        })
        return (yield* recomputed).filter(({ verdict }) => verdict !== "ok").map(({ verdict }) => verdict)
      })
    ).pipe(Effect.provide(Layer.fresh(governorWorld())))

  it.effect("takes a result that follows from the acknowledgements, and finds each member that does not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* lie({}), [])
      const wrong = [
        { acknowledged: 2 },
        { expected: 1 },
        { max_ms: 4 },
        { p50_ms: 39 },
        { p95_ms: 41 },
        { met: true },
        { unlisted: 1 },
        // Before the acknowledgement was recorded nobody had acknowledged.
        { as_of_seq: 0 }
      ]
      for (const change of wrong)
        assert.deepStrictEqual(yield* lie(change), ["drill_result_mismatch"], JSON.stringify(change))
    })
  )

  it.effect("finds a result attested by who started the drill", () =>
    Effect.gen(function* () {
      const { id: agentId } = yield* registered("courier")
      const { activation_event, id } = yield* start(agentId)
      yield* acknowledged(activation_event, agentId, "a")
      yield* complete(id)
      yield* Storage.use((storage) =>
        storage.commit({
          records: [
            {
              kind: "drill.attested",
              agentId,
              body: {
                agent_id: agentId,
                attested_at: "2026-11-21T00:00:00.000Z",
                drill_id: id,
                met: true,
                writer: ann.id
              },
              parts: []
            }
          ]
        })
      )
      assert.deepStrictEqual(
        (yield* recomputed).map(({ verdict }) => verdict).filter((verdict) => verdict !== "ok"),
        ["drill_result_mismatch"]
      )
    }).pipe(Effect.provide(world))
  )
})
