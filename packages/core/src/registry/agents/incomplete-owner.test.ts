/**
 * An owner is a name and an address: what an agent without both is, and when its clock starts in a store of rules 1.
 * Spec: decision 0038.
 */
import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import { ask, recomputed } from "../../verdicts/evaluations/testing/refunds.ts"
import type { GovernorServices } from "../../governor/governor-layer.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { storeOfRules1 } from "../../testing/rules-1.ts"
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

/** A store in which rules 1 registered half-owned agents a month ago, and this version starts now. */
const old = <E>(
  test: (ids: {
    readonly half: string
    readonly whole: string
    readonly lone: string
    readonly over: string
  }) => Effect.Effect<void, E, GovernorServices | Storage>
) => {
  let isOld = true
  return Effect.gen(function* () {
    const agents = yield* Agents
    const made = (name: string, owner: object) =>
      Effect.map(agents.register({ name, org_unit: "ops", ...owner }, writer), ({ agent }) => agent.id)
    const ids = {
      half: yield* made("half", { owner_name: "Ada" }),
      whole: yield* made("whole", { owner_name: "Ada", owner_email: "ada@example.org" }),
      lone: yield* made("lone", {}),
      over: yield* made("over", { owner_email: "ada@example.org" })
    }
    yield* agents.decommission(ids.over, writer)
    isOld = false
    yield* later(4 * WEEK_MS, test(ids))
  }).pipe(Effect.provide(Layer.fresh(governorWorld(storeOfRules1(() => isOld)))))
}

describe("a store of rules 1", () => {
  it.effect("replays as it is, and half an owner still counts there", () =>
    old(({ half }) =>
      Effect.gen(function* () {
        const agents = yield* Agents
        assert.strictEqual((yield* agents.get(half)).orphaned_since, null)
        assert.strictEqual(yield* agents.suspendIfDue(half), null)
        yield* sound
      })
    )
  )

  it.effect("starts the clock of half owners at a record, once, and not before", () =>
    old(({ half, lone, over, whole }) =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const storage = yield* Storage
        const nowMs = yield* Clock.currentTimeMillis
        // The one without any owner is due for weeks. The half-owned one has its week still.
        assert.strictEqual(yield* suspendDue, 1)
        const since = formatInstant(nowMs)
        assert.deepInclude(yield* agents.get(half), {
          owner_name: "Ada",
          owner_email: null,
          orphaned_since: since,
          status: "draft"
        })
        assert.deepInclude(yield* agents.get(whole), { orphaned_since: null })
        assert.deepInclude(yield* agents.get(over), { orphaned_since: null, status: "decommissioned" })
        assert.strictEqual((yield* agents.get(lone)).status, "suspended")
        const [record] = yield* orphanRecords
        const text = new TextDecoder().decode(record!.bytes)
        assert.include(
          text,
          `"body":{"agent_id":"${half}","cause":"owner_incomplete","since":"${since}",` +
            `"writer":"policy:incomplete_owner"}`
        )
        const size = (yield* storage.head)!.seq
        // Another start, another process: nothing is left to say.
        yield* Effect.all(
          [
            suspendDue,
            suspendDue,
            agents.orphanIfIncomplete(half),
            agents.orphanIfIncomplete(whole),
            agents.orphanIfIncomplete(over)
          ],
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* storage.head)!.seq, size)
        assert.strictEqual(yield* later(WEEK_MS - 1, suspendDue), 0)
        assert.strictEqual(yield* later(WEEK_MS, suspendDue), 1)
        assert.deepInclude(yield* agents.get(half), {
          status: "suspended",
          suspended_reason: "orphan_grace",
          owner_name: "Ada"
        })
        yield* sound
      })
    )
  )

  it.effect("writes one record where several processes start at once", () =>
    old(({ half }) =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, () => agents.orphanIfIncomplete(half)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter((answer) => answer !== null).length, 1)
        assert.strictEqual((yield* orphanRecords).length, 1)
        yield* sound
      })
    )
  )

  it.effect("judges verdicts by the record: an active agent with half an owner acts until a week after it", () =>
    old(({ half }) =>
      Effect.gen(function* () {
        const agents = yield* Agents
        // Rules 1 let it act.
        yield* Storage.use((storage) =>
          Effect.flatMap(storage.get("agents", half), (found) =>
            storage.commit({
              puts: [
                {
                  collection: "agents",
                  id: half,
                  expectedVersion: found!.version,
                  body: { ...found!.body, status: "active" },
                  unique: { name: "half" },
                  keys: { org_unit: "ops" }
                }
              ],
              records: [
                { kind: "agent.activated", agentId: half, body: { agent_id: half, writer: writer.id }, parts: [] }
              ]
            })
          )
        )
        const ruleOf = Effect.map(ask(half, {}), ({ matched_rule }) => matched_rule)
        assert.strictEqual(yield* ruleOf, "@no_envelope")
        yield* suspendDue
        assert.strictEqual(yield* ruleOf, "@no_envelope")
        assert.strictEqual(yield* later(WEEK_MS, ruleOf), "@suspended")
        assert.deepInclude(yield* agents.get(half), { status: "active" })
        yield* sound
      })
    )
  )
})
