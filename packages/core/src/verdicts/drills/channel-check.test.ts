import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Replay } from "../../outward/replay/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { recomputed } from "../evaluations/testing/refunds.ts"
import { Kill, type KillApi } from "../kill/service.ts"
import { Safety } from "../safety/service.ts"
import { CHANNEL_WAIT_MS, ChannelPeriod, checkChannel } from "./channel-check.ts"
import { channelClock } from "./channel-clock.ts"

const PERIOD_MS = 600_000
const world = (wrap?: (storage: StorageApi) => StorageApi) =>
  Layer.fresh(governorWorld(wrap)).pipe(Layer.provide(Layer.succeed(ChannelPeriod, PERIOD_MS)))
const channel = Effect.map(
  Safety.use((safety) => safety.view()),
  ({ channel }) => channel
)
const events = Effect.map(
  Storage.use(({ outbox }) => outbox.events({ limit: 100 })),
  (found) => found.flatMap(({ data, type }) => (type === "chain.checkpoint" ? [] : [[type, data["cause"]]]))
)
const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

describe("the check of the kill switch's channel", () => {
  it.effect("is recorded with what it measured, reaches no agent, and leaves nothing active", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      assert.isNull(yield* channel)
      const { activationId } = yield* checkChannel
      assert.deepStrictEqual(yield* channel, {
        armed: true,
        latency_ms: 0,
        checked_at: "1970-01-01T00:00:00.000Z",
        activation_event: activationId,
        overdue: false
      })
      const { agents, epoch } = yield* Safety.use((safety) => safety.view())
      assert.deepInclude(agents[0], { agent_id: id, halted: false, drill: false, activation_event: null })
      assert.strictEqual(epoch, 2)
      assert.deepStrictEqual(yield* events, [["agent.registered", undefined]])
      yield* sound
    }).pipe(Effect.provide(world()))
  )

  it.effect("is done every period, and overdue after two without one", () =>
    Effect.gen(function* () {
      yield* Layer.build(channelClock)
      yield* TestClock.adjust(PERIOD_MS - 1)
      assert.isNull(yield* channel)
      yield* TestClock.adjust(PERIOD_MS + 60_000)
      const last = yield* channel
      assert.deepInclude(last, { armed: true, overdue: false })
      yield* TestClock.adjust(PERIOD_MS)
      assert.notStrictEqual((yield* channel)!.checked_at, last!.checked_at)
      assert.deepStrictEqual(yield* events, [])
    }).pipe(Effect.scoped, Effect.provideService(ChannelPeriod, PERIOD_MS), Effect.provide(world()))
  )

  it.effect("is not done at a period of 0", () =>
    Effect.gen(function* () {
      yield* Layer.build(channelClock)
      yield* TestClock.adjust(10_000_000)
      assert.isNull(yield* channel)
    }).pipe(Effect.scoped, Effect.provideService(ChannelPeriod, 0), Effect.provide(world()))
  )

  it.effect("raises one alarm where no check can be recorded, and is done again when it can", () => {
    let fails = false
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        fails && change.records?.some(({ kind }) => kind === "kill.activated")
          ? Effect.die("the activation fails")
          : storage.commit(change)
    })
    return Effect.gen(function* () {
      yield* checkChannel
      fails = true
      yield* Layer.build(channelClock)
      yield* TestClock.adjust(4 * PERIOD_MS)
      assert.deepInclude(yield* channel, { overdue: true })
      assert.deepStrictEqual(yield* events, [["channel.alarmed", "overdue"]])
      fails = false
      yield* TestClock.adjust(60_000)
      assert.deepInclude(yield* channel, { armed: true, overdue: false })
    }).pipe(Effect.scoped, Effect.provideService(ChannelPeriod, PERIOD_MS), Effect.provide(world(wrap)))
  })

  it.effect("is not armed where the status never shows it, and says so at once", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      // A process whose status is as it was before the activation.
      const stale = yield* kill.status({ type: "agent", id: "flyball:channel" })
      const blind: KillApi = { ...kill, status: () => Effect.succeed(stale) }
      const checking = yield* Effect.forkChild(Effect.provideService(checkChannel, Kill, blind))
      yield* TestClock.adjust(CHANNEL_WAIT_MS + 1_000)
      const check = yield* Fiber.join(checking)
      assert.deepInclude(check, { armed: false, latencyMs: null })
      assert.deepInclude(yield* channel, { armed: false, latency_ms: null })
      assert.deepStrictEqual(yield* events, [["channel.alarmed", "not_armed"]])
      yield* sound
    }).pipe(Effect.provide(world()))
  )

  it.effect("first releases what a check that was cut short left active", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      yield* kill.activateTarget({
        target: { type: "agent", id: "flyball:channel" },
        response: "halt",
        reason: null,
        drill: { drillId: `drl_${"0".repeat(26)}`, mode: "shadow" },
        breakerId: null,
        actor: "system:channel",
        requestedBy: null
      })
      yield* checkChannel
      assert.deepInclude(yield* kill.status({ type: "agent", id: "flyball:channel" }), { activation_event: null })
      assert.deepInclude(yield* channel, { armed: true })
    }).pipe(Effect.provide(world()))
  )
})
