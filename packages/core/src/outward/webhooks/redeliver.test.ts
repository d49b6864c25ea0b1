import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { created, engine, hooks, replays, tagOf } from "./testing/webhook-acts.ts"
import { accepted, answered, happened, outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

describe("webhooks", () => {
  it.effect("deliver a finished delivery again: a new one, with the same event id", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created()
      const other = yield* created({ url: "https://hooks.example/other" })
      yield* happened()
      const [first] = yield* hooks(({ deliveries }) => deliveries(id))
      yield* Layer.build(engine)
      yield* untilIdle
      const again = yield* hooks(({ redeliver }) => redeliver(id, first!.id))
      assert.deepInclude(again, {
        event_id: first!.event_id,
        sequence: 2,
        state: "pending",
        event_type: "agent.registered",
        attempts: []
      })
      assert.notStrictEqual(again.id, first!.id)
      yield* untilIdle
      const sent = there.arrived.filter(({ url }) => url.endsWith("/in"))
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["webhook-id"]),
        [first!.event_id, first!.event_id]
      )
      assert.deepStrictEqual(sent[0]!.body, sent[1]!.body)
      for (const wrong of ["nonsense", `dlv_${"0".repeat(26)}`])
        assert.strictEqual(yield* tagOf(({ redeliver }) => redeliver(id, wrong)), "DeliveryNotFound")
      assert.strictEqual(yield* tagOf(({ redeliver }) => redeliver(other.id, first!.id)), "DeliveryNotFound")
      yield* hooks(({ disable }) => disable(id, systemHost))
      assert.strictEqual(yield* tagOf(({ redeliver }) => redeliver(id, first!.id)), "WebhookNotActive")
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
  })

  it.effect("answer the delivery that was made, however many newer ones there are by then", () => {
    const there = outside()
    /** Others happen right behind the commit that owes the event once more. */
    const busy = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        change.again === undefined
          ? storage.commit(change)
          : Effect.tap(storage.commit(change), () =>
              storage.commit({ events: Array.from({ length: 1_001 }, () => ({ type: "agent.registered", data: {} })) })
            )
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle))
      const [first] = yield* hooks(({ deliveries }) => deliveries(id))
      assert.strictEqual(first!.state, "succeeded")
      assert.deepInclude(yield* hooks(({ redeliver }) => redeliver(id, first!.id)), {
        event_id: first!.event_id,
        sequence: 2,
        state: "pending"
      })
    }).pipe(Effect.provide(webhookWorld(there, {}, busy)))
  })

  it.effect(
    "attempt a waiting delivery at once on request, as the next of its seven attempts and never as an eighth",
    () => {
      const there = outside()
      there.answer = () => Effect.succeed(answered(500))
      return Effect.gen(function* () {
        const { id } = yield* created()
        yield* Layer.build(engine)
        yield* happened()
        yield* untilIdle
        const [waiting] = yield* hooks(({ deliveries }) => deliveries(id))
        assert.deepInclude(waiting!, { state: "pending", next_attempt_at: formatInstant(60_000) })
        yield* TestClock.setTime(1_000)
        const now = yield* hooks(({ redeliver }) => redeliver(id, waiting!.id))
        assert.deepInclude(now, {
          id: waiting!.id,
          sequence: 1,
          state: "pending",
          next_attempt_at: formatInstant(1_000)
        })
        // One that is due is due: asking again changes nothing.
        assert.deepStrictEqual(yield* hooks(({ redeliver }) => redeliver(id, waiting!.id)), now)
        yield* untilIdle
        assert.deepInclude((yield* hooks(({ deliveries }) => deliveries(id)))[0]!, {
          state: "pending",
          next_attempt_at: formatInstant(1_000 + 5 * 60_000)
        })
        for (let attempt = 3; attempt <= 7; attempt++) {
          yield* hooks(({ redeliver }) => redeliver(id, waiting!.id))
          yield* untilIdle
        }
        assert.deepStrictEqual(
          there.arrived.map(({ headers }) => headers["x-platform-attempt"] ?? headers["X-Platform-Attempt"]),
          ["1", "2", "3", "4", "5", "6", "7"]
        )
        const [given] = yield* hooks(({ deliveries }) => deliveries(id))
        assert.deepStrictEqual(
          [given!.state, given!.attempts.length, (yield* hooks(({ get }) => get(id))).status],
          ["failed", 7, "failed"]
        )
        assert.strictEqual(yield* tagOf(({ redeliver }) => redeliver(id, waiting!.id)), "WebhookNotActive")
        yield* replays
      }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
    }
  )

  it.effect("do not begin a second attempt beside one that is under way", () => {
    const there = outside()
    there.answer = () => Effect.as(Effect.sleep(4_000), accepted)
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* Layer.build(engine)
      yield* happened()
      yield* untilIdle
      const [one] = yield* hooks(({ deliveries }) => deliveries(id))
      assert.strictEqual(yield* tagOf(({ redeliver }) => redeliver(id, one!.id)), "DeliveryUnfinished")
      yield* TestClock.adjust(4_000)
      yield* untilIdle
      assert.deepStrictEqual(
        [there.arrived.length, (yield* hooks(({ deliveries }) => deliveries(id)))[0]!.state],
        [1, "succeeded"]
      )
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
  })
})
