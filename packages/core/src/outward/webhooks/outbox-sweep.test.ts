import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { deliveryEngine } from "./delivery-engine.ts"
import { outboxSweep, SWEEP_MS, sweepOutbox } from "./outbox-sweep.ts"
import { Webhooks } from "./service.ts"
import { created, DAY_MS } from "./testing/webhook-acts.ts"
import { happened, outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

const engine = deliveryEngine({ pollMs: 100 * DAY_MS })
const sweep = sweepOutbox(Effect.succeed(true))
const sequences = (id: string) =>
  Webhooks.use((webhooks) => Effect.map(webhooks.deliveries(id), (found) => found.map(({ sequence }) => sequence)))
const eventCount = Storage.use((storage) => Effect.map(storage.outbox.events({ limit: 1000 }), ({ length }) => length))

describe("old deliveries and events", () => {
  it.effect("are deleted after 30 days and not before, and are then not found", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(engine)
          yield* happened()
          yield* untilIdle
        })
      )
      const [reported] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
      yield* TestClock.setTime(30 * DAY_MS)
      yield* happened()
      assert.deepStrictEqual(yield* sweep, { deliveries: 0, events: 0 })
      yield* TestClock.setTime(30 * DAY_MS + 1)
      assert.deepStrictEqual(yield* sweep, { deliveries: 1, events: 1 })
      assert.deepStrictEqual([yield* sequences(id), yield* eventCount], [[2], 1])
      assert.strictEqual(
        (yield* Effect.flip(Webhooks.use((webhooks) => webhooks.redeliver(id, reported!.id))))._tag,
        "DeliveryNotFound"
      )
      yield* happened()
      assert.deepStrictEqual(yield* sequences(id), [3, 2])
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("is left out of a list where it is forgotten while the list is made", () => {
    let isGone = false
    const forgetting = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        deliveriesOf: (id, page) =>
          Effect.tap(storage.outbox.deliveriesOf(id, page), () =>
            isGone
              ? Effect.andThen(
                  storage.outbox.forget({ what: "deliveries", beforeMs: DAY_MS, limit: 10 }),
                  storage.outbox.forget({ what: "events", beforeMs: DAY_MS, limit: 10 })
                )
              : Effect.void
          )
      }
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle))
      yield* TestClock.setTime(2 * DAY_MS)
      yield* happened()
      isGone = true
      assert.deepStrictEqual(yield* sequences(id), [2])
    }).pipe(Effect.provide(webhookWorld(outside(), {}, forgetting)))
  })

  it.effect("stays while it waits, however long nothing ran", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* TestClock.setTime(400 * DAY_MS)
      assert.deepStrictEqual(
        [yield* sweep, yield* sequences(id), yield* eventCount],
        [{ deliveries: 0, events: 0 }, [1], 1]
      )
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle))
      yield* TestClock.setTime(500 * DAY_MS)
      yield* happened("agent.suspended")
      assert.deepStrictEqual([yield* sweep, yield* eventCount], [{ deliveries: 1, events: 1 }, 1])
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("are kept as far back as recover reads, whatever the setting: nothing delivered is owed again", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      yield* TestClock.setTime(DAY_MS)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(engine)
          yield* happened()
          yield* untilIdle
        })
      )
      yield* TestClock.setTime(15 * DAY_MS)
      yield* sweep
      assert.deepInclude(yield* Webhooks.use((webhooks) => webhooks.recover(id, { since: formatInstant(DAY_MS) })), {
        count: 0
      })
      assert.deepStrictEqual(yield* sequences(id), [1])
    }).pipe(Effect.provide(webhookWorld(outside(), { keepMs: DAY_MS })))
  )

  it.effect("goes in steps of a few hundred rows, by one process of two, which the other replaces", () => {
    const steps: Array<number> = []
    let breaks = 1
    const counting = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        forget: (request) =>
          Effect.suspend(() =>
            breaks-- > 0
              ? Effect.die(new Error("broken"))
              : Effect.tap(storage.outbox.forget(request), ({ count }) => Effect.sync(() => void steps.push(count)))
          )
      }
    })
    return Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.commit({
        events: Array.from({ length: 1_100 }, (_, n) => ({ type: "agent.registered", data: { n } }))
      })
      yield* TestClock.setTime(40 * DAY_MS)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(Layer.fresh(outboxSweep))
          yield* Layer.build(Layer.fresh(outboxSweep))
          yield* untilIdle
          assert.deepStrictEqual(steps, [], "the first sweep broke, and the second process waits for its lease")
          yield* TestClock.adjust(SWEEP_MS)
          for (let turn = 0; turn < 10; turn++) yield* TestClock.adjust(1_000)
        })
      )
      assert.deepStrictEqual([steps.filter((count) => count > 0), yield* eventCount], [[500, 500, 99], 1])
      assert.isTrue(yield* storage.lease("outbox_sweep", "another", 1), "the lease is given back at the end")
    }).pipe(Effect.provide(webhookWorld(outside(), {}, counting)))
  })
})
