/**
 * Updates at their edges: what changes nothing is no record, and the tier is judged by the agent that the update makes.
 * Decision 0013.
 */
import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Models } from "../models/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Agents } from "./service.ts"

const NOW_MS = 1_795_230_000_000
const world = Layer.fresh(governorWorld())
const size = Effect.map(
  Storage.use(({ head }) => head),
  (head) => head!.seq
)
const refusal = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly [name: string]: unknown }, A, R> =>
  Effect.map(Effect.flip(effect), (error) => ({ ...error, _tag: error._tag }))
const active = Effect.fnUntraced(function* (recertDueAtMs: number | null) {
  const agents = yield* Agents
  const { id } = yield* registered("courier")
  yield* agents.update(id, { recert_due_at: recertDueAtMs === null ? null : formatInstant(recertDueAtMs) }, writer)
  return { agents, id }
})

describe("an update", () => {
  it.effect("that changes nothing answers the agent as it is, and is no record", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent } = yield* agents.register(
        {
          name: "courier",
          org_unit: "ops",
          description: "d",
          labels: { a: 1, b: [{ c: 2 }] },
          blast_radius: { money: 5 },
          model_ids: ["m"],
          risk_class: "high",
          recert_due_at: "2099-01-01T00:00:00.000Z"
        },
        writer
      )
      const before = yield* size
      for (const same of [
        {},
        { description: "d" },
        { labels: { b: [{ c: 2 }], a: 1 } },
        { blast_radius: { money: 5 } },
        { model_ids: ["m"] },
        { risk_class: "high" as const },
        { recert_due_at: "2099-01-01T00:00:00.000Z" },
        { autonomy_tier: "L0" as const },
        { purpose: null, framework: null, autonomy_tier: null },
        { if_version: 1 },
        { if_version: 1, description: "d" }
      ])
        assert.deepStrictEqual(yield* agents.update(agent.id, same, writer), agent, JSON.stringify(same))
      assert.strictEqual(yield* size, before)
      assert.deepInclude(yield* refusal(agents.update(agent.id, { if_version: 2 }, writer)), {
        _tag: "AgentVersionConflict",
        version: 1
      })
      for (const [index, other] of [
        { description: null },
        { labels: { a: 1 } },
        { model_ids: [] },
        { risk_class: null },
        { recert_due_at: null },
        { autonomy_tier: "L1" as const },
        { blast_radius: null }
      ].entries()) {
        assert.strictEqual((yield* agents.update(agent.id, other, writer)).version, index + 2)
      }
      assert.strictEqual(yield* size, before + 7)
      yield* agents.decommission(agent.id, writer)
      assert.strictEqual((yield* refusal(agents.update(agent.id, {}, writer)))["_tag"], "InvalidTransition")
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("of labels that are equal writes no profile again beside what does change", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent } = yield* agents.register({ name: "courier", org_unit: "ops", labels: { a: 1 } }, writer)
      yield* agents.update(agent.id, { labels: { a: 1 }, risk_class: "high" }, writer)
      assert.deepStrictEqual(yield* Storage.use((storage) => Effect.flatMap(size, (seq) => storage.parts([seq]))), [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("of a model that changes nothing is no record either", () =>
    Effect.gen(function* () {
      const models = yield* Models
      const model = yield* models.create(
        { provider: "p", name: "n", price: { input_micro_usd_per_mtok: 3 }, hosting: "vendor_api" },
        writer
      )
      const before = yield* size
      for (const same of [
        {},
        { status: "allowed" as const },
        { status: null },
        { hosting: "vendor_api" as const },
        { price: { input_micro_usd_per_mtok: 3 } }
      ]) {
        assert.deepStrictEqual(yield* models.update(model.id, same, writer), model, JSON.stringify(same))
      }
      assert.strictEqual(yield* size, before)
      for (const other of [{ status: "retired" as const }, { hosting: null }, { price: null }])
        yield* models.update(model.id, other, writer)
      assert.strictEqual(yield* size, before + 3)
      assert.strictEqual(
        (yield* refusal(models.update("mdl_00000000000000000000000000", {}, writer)))["_tag"],
        "ModelNotFound"
      )
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})

describe("recertification, at the gate", () => {
  it.effect("is missing from the millisecond at which it was due", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW_MS)
      const { agents, id } = yield* active(NOW_MS)
      assert.deepInclude(yield* refusal(agents.activate(id, writer)), {
        _tag: "TierGateUnmet",
        missing: ["recertification"]
      })
      yield* agents.update(id, { recert_due_at: formatInstant(NOW_MS + 1) }, writer)
      assert.strictEqual((yield* agents.activate(id, writer)).status, "active")
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("counts as the update sets it, not as it was", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW_MS)
      const { agents, id } = yield* active(null)
      yield* agents.activate(id, writer)
      for (const due of ["2020-01-01T00:00:00.000Z", formatInstant(NOW_MS)]) {
        assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L1", recert_due_at: due }, writer)), {
          _tag: "TierGateUnmet",
          tier: "L1",
          missing: ["recertification"]
        })
      }
      assert.deepInclude(yield* agents.get(id), { autonomy_tier: "L0", recert_due_at: null })
      assert.deepInclude(
        yield* agents.update(id, { autonomy_tier: "L1", recert_due_at: formatInstant(NOW_MS + 1) }, writer),
        { autonomy_tier: "L1" }
      )
      // The date that stands has passed; the update brings another.
      yield* TestClock.setTime(NOW_MS + 1)
      assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L2" }, writer)), {
        missing: ["recertification", "published_envelope"]
      })
      assert.deepInclude(yield* refusal(agents.update(id, { autonomy_tier: "L2", recert_due_at: null }, writer)), {
        missing: ["published_envelope"]
      })
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})

describe("taking away an owner", () => {
  it.effect("that does not exist is refused with the status that the agent has, and why", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      for (const status of ["draft", "active", "suspended"]) {
        if (status !== "draft")
          yield* agents.transferOwnership(id, { owner_name: "Ada", owner_email: "ada@example.org" }, writer)
        if (status === "active") yield* agents.activate(id, writer)
        if (status === "suspended") yield* agents.suspend(id, {}, writer)
        yield* agents.disown(id, { reason: "x" }, writer)
        const again = yield* Effect.flip(agents.disown(id, { reason: "x" }, writer))
        assert.deepInclude(again, { _tag: "InvalidTransition", status, act: "disown" })
        assert.match(again.message, /^This agent has no owner to remove/)
      }
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})
