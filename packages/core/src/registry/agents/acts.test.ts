import { assert, describe, it } from "@effect/vitest"
import { fromUtf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { drilled } from "../../verdicts/drills/testing/drilled.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { suspendDue } from "./clock.ts"
import { Agents } from "./service.ts"
import { TierEvidence } from "./tier-evidence.ts"

const DAY = 86_400_000
const world = governorWorld()
const proven = Layer.fresh(governorWorld()).pipe(
  Layer.provide(
    Layer.succeed(TierEvidence, {
      publishedEnvelope: () => Effect.succeed(true)
    })
  )
)

const refusal = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly [name: string]: unknown; readonly _tag: string }, A, R> =>
  Effect.map(Effect.flip(effect), (error) => ({ ...error, _tag: error._tag }))
const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)
const last = Effect.flatMap(Storage, (storage) =>
  Effect.gen(function* () {
    const [record] = yield* storage.records({ order: "desc", limit: 1 })
    const parts = yield* storage.parts([record!.seq])
    return {
      kind: record!.kind,
      parts: Object.fromEntries(parts.map(({ bytes, name }) => [name, bytes === null ? null : fromUtf8(bytes)])),
      text: fromUtf8(record!.bytes)!
    }
  })
)

describe("an agent's life", () => {
  it.effect("goes from draft to active, suspended, active and to its end, each a record, and replay agrees", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      const active = yield* agents.activate(id, writer)
      assert.deepInclude(active, { status: "active", version: 2, suspended_reason: null })
      const suspended = yield* agents.suspend(id, { reason: "paid twice" }, writer)
      assert.deepInclude(suspended, { status: "suspended", suspended_reason: "manual", version: 3 })
      assert.deepInclude(yield* last, { kind: "agent.suspended", parts: { reason: '"paid twice"' } })
      assert.notInclude((yield* last).text, "paid twice")
      assert.deepInclude(yield* agents.activate(id, writer), { status: "active", suspended_reason: null })
      yield* TestClock.setTime(1_795_230_000_123)
      assert.deepInclude(yield* agents.decommission(id, writer), {
        status: "decommissioned",
        decommissioned_at: "2026-11-21T03:00:00.123Z"
      })
      assert.deepStrictEqual(yield* agents.get(id), yield* agents.find("courier"))
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("suspended again is answered as it is, and nothing is recorded: the first reason stands", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("stopped twice")
      const suspended = yield* agents.suspend(id, { reason: "paid twice" }, writer)
      const size = (yield* Storage.use(({ head }) => head))!.seq
      assert.deepStrictEqual(yield* agents.suspend(id, { reason: "in a hurry" }, writer), suspended)
      assert.strictEqual((yield* Storage.use(({ head }) => head))!.seq, size)
      assert.deepInclude(yield* last, { kind: "agent.suspended", parts: { reason: '"paid twice"' } })
      assert.deepInclude(yield* agents.activate(id, writer), { status: "active" })
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("refuses every act after decommissioning, and acts that its status does not allow", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.activate(id, writer)
      assert.deepInclude(yield* refusal(agents.activate(id, writer)), {
        _tag: "InvalidTransition",
        status: "active",
        act: "activate"
      })
      yield* agents.decommission(id, writer)
      const size = (yield* Storage.use(({ head }) => head))!.seq
      const acts: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        agents.activate(id, writer),
        agents.suspend(id, {}, writer),
        agents.decommission(id, writer),
        agents.update(id, { purpose: "x" }, writer),
        agents.recertify(id, { recert_due_at: "2099-01-01T00:00:00.000Z" }, writer),
        agents.transferOwnership(id, { owner_name: "E", owner_email: "e@example.org" }, writer),
        agents.disown(id, { reason: "x" }, writer)
      ]
      for (const act of acts) assert.strictEqual((yield* refusal(act))._tag, "InvalidTransition")
      assert.strictEqual((yield* Storage.use(({ head }) => head))!.seq, size)
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("is not found outside its org unit, whatever the act", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      const sales = { orgUnits: ["sales"] }
      const acts: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        agents.activate(id, writer, sales),
        agents.suspend(id, {}, writer, sales),
        agents.update(id, {}, writer, sales),
        agents.disown(id, { reason: "x" }, writer, sales)
      ]
      for (const act of acts) {
        assert.strictEqual((yield* refusal(act))._tag, "AgentNotFound")
      }
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("passes the tier gate only with what its tier needs", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent: lone } = yield* agents.register({ name: "lone", org_unit: "ops" }, writer)
      assert.deepInclude(yield* refusal(agents.activate(lone.id, writer)), {
        _tag: "TierGateUnmet",
        missing: ["owner"]
      })
      assert.deepStrictEqual(lone.tier_unmet, ["owner"])
      const { agent: bold } = yield* agents.register(
        { name: "bold", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org", autonomy_tier: "L4" },
        writer
      )
      assert.deepInclude(yield* refusal(agents.activate(bold.id, writer)), {
        missing: ["published_envelope", "verified_identity", "attested_drill"]
      })
      assert.deepStrictEqual(bold.tier_unmet, ["published_envelope", "verified_identity", "attested_drill"])
      yield* agents.update(bold.id, { recert_due_at: "1970-01-01T00:00:00.000Z", autonomy_tier: "L3" }, writer)
      const [listed] = yield* agents.list({ q: "bold" })
      assert.deepStrictEqual(listed!.tier_unmet, ["recertification", "published_envelope", "verified_identity"])
      assert.deepStrictEqual((yield* agents.decommission(bold.id, writer)).tier_unmet, [])
      // A draft may be given any tier; an active agent may not grow beyond what it has.
      const { id } = yield* registered("courier")
      yield* agents.update(id, { autonomy_tier: "L2" }, writer)
      assert.deepInclude(yield* refusal(agents.activate(id, writer)), { missing: ["published_envelope"] })
      yield* agents.update(id, { autonomy_tier: "L1" }, writer)
      yield* agents.activate(id, writer)
      assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L2" }, writer)), {
        _tag: "TierGateUnmet",
        tier: "L2"
      })
      assert.strictEqual((yield* agents.update(id, { autonomy_tier: "L0" }, writer)).autonomy_tier, "L0")
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("queries the capabilities that have the evidence", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.activate(id, writer)
      assert.deepInclude(yield* agents.update(id, { autonomy_tier: "L2" }, writer), {
        autonomy_tier: "L2",
        tier_unmet: []
      })
      assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L4" }, writer)), {
        missing: ["verified_identity", "attested_drill"]
      })
      yield* drilled(id)
      assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L4" }, writer)), {
        missing: ["verified_identity"]
      })
    }).pipe(Effect.provide(proven))
  )

  it.effect("is updated member by member, and empties what null empties", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent } = yield* agents.register(
        {
          name: "courier",
          org_unit: "ops",
          purpose: "p",
          description: "d",
          labels: { a: 1 },
          risk_class: "high",
          recert_due_at: "2099-01-01T00:00:00.000Z"
        },
        writer
      )
      const updated = yield* agents.update(
        agent.id,
        { description: null, framework: "f", labels: null, recert_due_at: null },
        writer
      )
      assert.deepStrictEqual(updated, {
        ...agent,
        description: null,
        framework: "f",
        labels: {},
        recert_due_at: null,
        version: 2
      })
      assert.deepStrictEqual(Object.keys((yield* last).parts), ["profile"])
      yield* agents.update(agent.id, { risk_class: "limited" }, writer)
      assert.deepStrictEqual((yield* last).parts, {}, "a profile that did not change is not written again")
      assert.deepInclude(yield* refusal(agents.update(agent.id, { purpose: "q", if_version: 2 }, writer)), {
        _tag: "AgentVersionConflict",
        version: 3
      })
      assert.strictEqual((yield* agents.update(agent.id, { purpose: "q", if_version: 3 }, writer)).purpose, "q")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("lets one of many updates of a version through", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      const tags = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) =>
          agents
            .update(id, { purpose: `p${n}`, if_version: 1 }, writer)
            .pipe(Effect.match({ onSuccess: () => "taken", onFailure: ({ _tag }) => _tag }))
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        tags.filter((tag) => tag !== "AgentVersionConflict"),
        ["taken"]
      )
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})

describe("the owner of an agent", () => {
  it.effect("is transferred, with nobody's name in the record's body", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      assert.deepInclude(
        yield* agents.transferOwnership(id, { owner_name: "Grace", owner_email: "grace@example.org" }, writer),
        { owner_name: "Grace", owner_email: "grace@example.org" }
      )
      assert.notInclude((yield* last).text, "race")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("if removed, must be replaced within a week or the agent is suspended", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_795_230_000_000)
      const agents = yield* Agents
      const one = yield* registered("one")
      yield* TestClock.adjust(1)
      const two = yield* registered("two")
      yield* agents.activate(one.id, writer)
      yield* agents.disown(one.id, { reason: "left the house" }, writer)
      yield* agents.disown(two.id, { reason: "left the house" }, writer)
      assert.deepInclude(yield* refusal(agents.disown(two.id, { reason: "again" }, writer)), {
        _tag: "InvalidTransition"
      })
      const orphans = yield* agents.orphans()
      assert.deepStrictEqual(
        orphans.map(({ name, orphaned_since, suspend_at }) => [name, orphaned_since, suspend_at]),
        [
          ["one", "2026-11-21T03:00:00.001Z", "2026-11-28T03:00:00.001Z"],
          ["two", "2026-11-21T03:00:00.001Z", "2026-11-28T03:00:00.001Z"]
        ]
      )
      assert.deepStrictEqual(yield* agents.orphans({ orgUnits: ["sales"] }), [])
      yield* agents.transferOwnership(two.id, { owner_name: "Grace", owner_email: "grace@example.org" }, writer)
      yield* TestClock.adjust(7 * DAY - 1)
      assert.strictEqual(yield* suspendDue, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* suspendDue, 1)
      assert.strictEqual(yield* suspendDue, 0)
      assert.deepInclude(yield* agents.get(one.id), { status: "suspended", suspended_reason: "orphan_grace" })
      assert.include((yield* last).text, '"writer":"policy:orphan_grace"')
      assert.deepInclude(yield* agents.get(two.id), { status: "draft", orphaned_since: null })
      assert.deepInclude(yield* refusal(agents.activate(one.id, writer)), { missing: ["owner"] })
      yield* agents.transferOwnership(one.id, { owner_name: "Grace", owner_email: "grace@example.org" }, writer)
      assert.strictEqual((yield* agents.activate(one.id, writer)).status, "active")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("suspends the agent when it comes too late; after recertification the agent may continue", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_795_230_000_000)
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.recertify(id, { recert_due_at: "2026-11-22T00:00:00.000Z" }, writer)
      yield* agents.activate(id, writer)
      yield* TestClock.adjust(400 * DAY)
      assert.strictEqual(yield* suspendDue, 1)
      assert.deepInclude(yield* agents.get(id), { status: "suspended", suspended_reason: "recert_overdue" })
      assert.deepInclude(yield* refusal(agents.activate(id, writer)), { missing: ["recertification"] })
      assert.strictEqual(
        (yield* refusal(agents.recertify(id, { recert_due_at: "2026-11-22T00:00:00.000Z" }, writer)))._tag,
        "InvalidInput"
      )
      yield* agents.recertify(id, { recert_due_at: "2099-01-01T00:00:00.000Z" }, writer)
      assert.strictEqual((yield* agents.activate(id, writer)).status, "active")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})
