import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { MAX_WINDOW_MS } from "@flyball/envelope"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { METERS } from "./meter-keeper.ts"
import { meterSweep, SWEEP_MS, sweepMeters } from "./meter-sweep.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, governedAgent, recomputed } from "./testing/refunds.ts"

const DAY_MS = 86_400_000
const KEPT_MS = MAX_WINDOW_MS + DAY_MS

const sweep = sweepMeters(Effect.succeed(true))
const windows = Storage.use((storage) => Effect.map(storage.list(METERS), (found) => found.map(({ id }) => id)))
const sound = Effect.map(recomputed, (found) =>
  assert.deepStrictEqual(
    found.filter(({ verdict }) => verdict !== "ok"),
    []
  )
)

describe("documents of meters that nothing was added to for long", () => {
  it.effect("go a day after the longest window; then counts begin at zero, and an old evaluation can be voided", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const old = yield* ask(agentId, { tool: "refund", amount: 300 })
      const [window] = yield* windows
      const addedAtMs = yield* Effect.map(
        Storage.use((storage) => storage.get(METERS, window!)),
        (document) => document!.body["added_at_ms"] as number
      )
      yield* TestClock.setTime(addedAtMs + KEPT_MS)
      assert.deepStrictEqual([yield* sweep, yield* windows], [0, [window]])
      yield* TestClock.setTime(addedAtMs + KEPT_MS + 1)
      assert.deepStrictEqual([yield* sweep, yield* windows], [1, []])
      yield* Evaluations.use((evaluations) => evaluations.void(old.id, {}, ann))
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 7 })).meters[0], { value: 0, after: 7 })
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], { value: 7, after: 8 })
      assert.notDeepEqual(yield* windows, [window])
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("stay where something is added while the sweep reads, and where it is not known since when", () => {
    let between: Effect.Effect<unknown, unknown> = Effect.void
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      list: (collection, page) =>
        Effect.tap(storage.list(collection, page), () => (collection === METERS ? Effect.orDie(between) : Effect.void))
    })
    return Effect.gen(function* () {
      const context = yield* Effect.context<Evaluations>()
      const { agentId } = yield* governedAgent()
      yield* ask(agentId, { tool: "refund", amount: 300 })
      yield* Storage.use((storage) =>
        storage.commit({
          puts: [{ collection: METERS, id: "mtr_old", expectedVersion: 0, body: { key: "k" }, unique: { key: "k" } }]
        })
      )
      yield* TestClock.adjust(KEPT_MS + DAY_MS)
      between = Effect.suspend(() => {
        between = Effect.void
        return Effect.provide(ask(agentId, { tool: "refund", amount: 5 }), context)
      })
      assert.deepStrictEqual([yield* sweep, (yield* windows).length], [0, 2])
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0]!.value, 5)
      yield* sound
    }).pipe(Effect.provide(governorWorld(wrap)))
  })

  it.effect("go by themselves where the job runs, in one process at a time", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* ask(agentId, { tool: "refund", amount: 300 })
      yield* TestClock.adjust(KEPT_MS + 1)
      const storage = yield* Storage
      assert.isTrue(yield* storage.lease("meter_sweep", "another", 120_000))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(meterSweep)
          yield* TestClock.adjust(1)
          assert.strictEqual((yield* windows).length, 1)
          yield* storage.releaseLease("meter_sweep", "another")
          yield* TestClock.adjust(SWEEP_MS)
          assert.isEmpty(yield* windows)
        })
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})
