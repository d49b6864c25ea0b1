/**
 * The delivery engine while something around it breaks: its store, its sender, its process, or its hold on a delivery.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { deliveryEngine } from "./delivery-engine.ts"
import type { Attempted } from "./ports.ts"
import { Webhooks } from "./service.ts"
import { running } from "./testing/running-engine.ts"
import { bodiesOf, created, statusOf, storedDeliveries } from "./testing/webhook-acts.ts"
import { accepted, answered, happened, outside, untilIdle, wait, webhookWorld } from "./testing/webhook-world.ts"

const HOUR_MS = 3_600_000

describe("the delivery engine", () => {
  it.effect("counts an attempt whose process is gone, from the end of its lease, and never makes an eighth", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      // A process that claims and is never heard of again, seven times.
      const storage = yield* Storage
      for (let crash = 1; crash <= 3; crash++) {
        const { claimed } = yield* storage.outbox.claim({ leaseMs: 30_000, limit: 10, perEndpoint: 4 })
        assert.deepStrictEqual(
          claimed.map(({ delivery }) => delivery.attempts),
          [crash]
        )
        const due = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Layer.build(running())
            yield* wait(30_000)
            return (yield* storedDeliveries(id))[0]!.nextAttemptAtMs!
          })
        )
        yield* TestClock.setTime(due)
      }
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ attempts, state }) => [attempts, state]),
        [[3, "pending"]]
      )
      yield* Effect.scoped(Effect.andThen(Layer.build(running()), wait(40 * HOUR_MS)))
      assert.lengthOf(there.arrived, 4)
      const [{ attempts } = { attempts: [] }] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
      assert.deepStrictEqual(
        attempts.map(({ error }) => error),
        ["crashed", "crashed", "crashed", "http_status", "http_status", "http_status", "http_status"]
      )
      assert.strictEqual(yield* statusOf(id), "failed")
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect(
    "takes a delivery for one that succeeded whose receiver took it after the lease, and sends it no more",
    () => {
      const there = outside()
      there.answer = () => Effect.delay(Effect.succeed(accepted), 40_000)
      return Effect.gen(function* () {
        const { id } = yield* created()
        yield* Layer.build(Layer.fresh(running({ drainMs: 0 })))
        yield* happened()
        yield* untilIdle
        // Another process, that finds the lease over.
        yield* Layer.build(Layer.fresh(running({ drainMs: 0 })))
        yield* untilIdle
        yield* Effect.andThen(TestClock.adjust(30_000), untilIdle)
        assert.deepInclude((yield* storedDeliveries(id))[0]!, {
          state: "pending",
          attempts: 1,
          nextAttemptAtMs: 90_000
        })
        yield* Effect.andThen(TestClock.adjust(10_000), untilIdle)
        assert.deepInclude((yield* storedDeliveries(id))[0]!, { state: "succeeded", attempts: 1, finishedAtMs: 40_000 })
        yield* wait(HOUR_MS)
        assert.lengthOf(there.arrived, 1)
        const [{ attempts } = { attempts: [] }] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
        assert.deepStrictEqual(
          attempts.map(({ error }) => error),
          ["crashed"]
        )
        assert.deepStrictEqual(
          (yield* bodiesOf("delivery.finished")).map(({ attempts, outcome }) => [attempts, outcome]),
          [[1, "succeeded"]]
        )
      }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
    }
  )

  it.effect("drops an outcome quietly when somebody else moved the delivery", () => {
    const there = outside()
    there.answer = ({ url }) => Effect.delay(Effect.succeed(accepted), url.endsWith("/early") ? 3_000 : 4_000)
    // While the first result is committed the others come together in one batch.
    const slow = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        (change.moves?.length ?? 0) > 0 ? Effect.delay(storage.commit(change), 2_000) : storage.commit(change)
    })
    return Effect.gen(function* () {
      const early = yield* created({ url: "https://hooks.example/early" })
      const { id } = yield* created({ url: "https://hooks.example/slow" })
      const well = yield* created({ url: "https://hooks.example/well" })
      yield* happened()
      yield* untilIdle
      const [{ id: deliveryId } = { id: "" }] = yield* storedDeliveries(id)
      const storage = yield* Storage
      const cancelled = storage.commit({
        moves: [
          {
            id: deliveryId,
            from: { state: "in_flight", attempts: 1 },
            to: { state: "cancelled" },
            ended: { endedAtMs: 1, statusCode: null, errorCode: "crashed", responseExcerpt: "" }
          }
        ]
      })
      yield* Effect.forkChild(cancelled)
      for (let second = 0; second < 12; second++) yield* Effect.andThen(TestClock.adjust(1_000), untilIdle)
      assert.deepStrictEqual(
        [(yield* storedDeliveries(id))[0]!.state, (yield* storedDeliveries(well.id))[0]!.state],
        ["cancelled", "succeeded"]
      )
      assert.deepStrictEqual(
        (yield* bodiesOf("delivery.finished")).map(({ outcome, webhook_id }) => [outcome, webhook_id]),
        [
          ["succeeded", early.id],
          ["succeeded", well.id]
        ]
      )
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, {}, slow)))))
  })

  it.effect("continues after the store was away, and loses nothing of what it sent", () => {
    const there = outside()
    let away = false
    const flaky = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        away && (change.moves?.length ?? 0) > 0
          ? Effect.fail(new StorageUnavailable({ reason: "test", wrote: "no" }))
          : storage.commit(change)
    })
    there.answer = () =>
      Effect.sync(() => {
        away = true
        return accepted
      })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* untilIdle
      assert.strictEqual((yield* storedDeliveries(id))[0]!.state, "in_flight")
      away = false
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* storedDeliveries(id))[0]!.state, "succeeded")
      assert.lengthOf(there.arrived, 1)
    }).pipe(Effect.provide(deliveryEngine().pipe(Layer.provideMerge(webhookWorld(there, {}, flaky)))))
  })

  it.effect("waits a moment for a store that is away between a claim and its sending", () => {
    const there = outside()
    let away = false
    const flaky = (storage: StorageApi): StorageApi => ({
      ...storage,
      get: (collection, id) =>
        away && collection === "webhook_secrets"
          ? Effect.fail(new StorageUnavailable({ reason: "test", wrote: "no" }))
          : storage.get(collection, id)
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      away = true
      yield* happened()
      yield* untilIdle
      assert.strictEqual((yield* storedDeliveries(id))[0]!.state, "in_flight")
      away = false
      yield* TestClock.adjust(250)
      yield* untilIdle
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ attempts, state }) => [attempts, state]),
        [[1, "succeeded"]]
      )
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, {}, flaky)))))
  })

  it.effect("commits the others when what a sender says of one cannot be kept", () => {
    const there = outside()
    there.answer = ({ url }) =>
      Effect.succeed(url.endsWith("/invalid") ? answered(12_345) : { ...accepted, responseExcerpt: "é".repeat(9_000) })
    return Effect.gen(function* () {
      const invalid = yield* created({ url: "https://hooks.example/invalid" })
      const well = yield* created({ url: "https://hooks.example/well" })
      yield* happened()
      yield* untilIdle
      assert.deepStrictEqual(
        [(yield* storedDeliveries(invalid.id))[0]!.state, (yield* storedDeliveries(well.id))[0]!.state],
        ["in_flight", "succeeded"]
      )
      const [{ attempts } = { attempts: [] }] = yield* Webhooks.use((webhooks) => webhooks.deliveries(well.id))
      assert.lengthOf(attempts[0]!.response_excerpt, 1_024)
      there.answer = () => Effect.succeed(accepted)
      yield* wait(HOUR_MS)
      assert.deepStrictEqual(
        (yield* storedDeliveries(invalid.id)).map(({ attempts, state }) => [attempts, state]),
        [[2, "succeeded"]]
      )
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("takes a sender that breaks for an attempt that crashed", () => {
    const there = outside()
    there.answer = () =>
      there.arrived.length === 1 ? Effect.die(new Error("bug")) : Effect.succeed<Attempted>(accepted)
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* wait(1 * HOUR_MS)
      const [one] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
      assert.deepStrictEqual(
        one!.attempts.map(({ error }) => error),
        ["crashed", null]
      )
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })
})
