/**
 * An owner is a name and an address: what an agent without both is. Spec: decision 0038.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { recomputed } from "../../verdicts/evaluations/testing/refunds.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { suspendDue } from "./clock.ts"
import { Agents } from "./service.ts"

const WEEK_MS = 7 * 86_400_000
const orphanRecords = Storage.use(({ records }) => records({ kinds: ["agent.orphaned"], from: 0, limit: 100 }))
/** Runs at a later time, without everything that would wake in between. */
const later = <A, E, R>(ms: number, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const nowMs = (): number => clock.currentTimeMillisUnsafe() + ms
    const ahead: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
      currentTimeMillisUnsafe: nowMs,
      currentTimeMillis: Effect.sync(nowMs)
    })
    return Effect.provideService(effect, Clock.Clock, ahead)
  })
const sound = Effect.gen(function* () {
  const report = yield* Replay.use(({ check }) => check)
  assert.deepStrictEqual(report.differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

describe("an owner with one of name and address", () => {
  for (const owner of [{ owner_name: "Ada" }, { owner_email: "ada@example.org" }]) {
    it.effect(`leaves the agent an orphan since it was registered: ${Object.keys(owner).join()}`, () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { agent } = yield* agents.register({ name: "courier", org_unit: "ops", ...owner }, writer)
        assert.deepInclude(agent, { ...owner, orphaned_since: agent.created_at })
        const refusal = yield* Effect.flip(agents.activate(agent.id, writer))
        assert.deepInclude(refusal, { _tag: "TierGateUnmet", missing: ["owner"] })
        assert.include(refusal.message, "an owner with a name and an e-mail address")
        assert.deepStrictEqual(
          (yield* agents.orphans()).map(({ id }) => id),
          [agent.id]
        )
        assert.strictEqual(
          (yield* Effect.flip(agents.disown(agent.id, { reason: "left" }, writer)))._tag,
          "InvalidTransition"
        )
        assert.strictEqual(yield* later(WEEK_MS, suspendDue), 1)
        const heir = yield* agents.transferOwnership(
          agent.id,
          { owner_name: "Ben", owner_email: "ben@example.org" },
          writer
        )
        assert.deepInclude(heir, { orphaned_since: null, status: "suspended", suspended_reason: "orphan_grace" })
        assert.strictEqual((yield* agents.activate(agent.id, writer)).status, "active")
        assert.strictEqual((yield* orphanRecords).length, 0)
        yield* sound
      }).pipe(Effect.provide(Layer.fresh(governorWorld())))
    )
  }
})
