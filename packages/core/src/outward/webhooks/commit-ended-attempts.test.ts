import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { metricsNow, ownMetrics } from "../../foundation/metrics.ts"
import { running } from "./testing/running-engine.ts"
import { systemHost } from "../../foundation/writer.ts"
import { created, hooks, statusOf, storedDeliveries } from "./testing/webhook-acts.ts"
import { answered, happened, outside, wait, webhookWorld } from "./testing/webhook-world.ts"

const counted = Effect.map(metricsNow, (families) =>
  Object.fromEntries(
    families
      .find(({ name }) => name === "flyball_deliveries_total")!
      .samples.map((sample) => [sample.labels["outcome"], "value" in sample ? sample.value : -1])
  )
)

describe("committing ended attempts", () => {
  it.effect("counts deliveries by outcome", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* created()
      yield* happened()
      yield* wait(60_000)
      assert.deepStrictEqual(yield* counted, { succeeded: 1, failed: 0, cancelled: 0, retry: 0 })
      there.answer = () => Effect.succeed(answered(500))
      yield* happened()
      yield* wait(40 * 3_600_000)
      assert.deepStrictEqual(yield* counted, { succeeded: 1, failed: 1, cancelled: 0, retry: 6 })
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)), Layer.provideMerge(ownMetrics))))
  })

  it.effect("counts what is cancelled with a webhook that is given up, and not what was cancelled before", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created()
      there.answer = () => Effect.succeed(answered(500))
      yield* happened()
      yield* hooks((webhooks) => webhooks.disable(id, systemHost))
      yield* hooks((webhooks) => webhooks.enable(id, systemHost))
      assert.deepStrictEqual(yield* counted, { succeeded: 0, failed: 0, cancelled: 0, retry: 0 })
      yield* happened()
      yield* wait(30 * 3_600_000)
      for (let n = 0; n < 3; n++) yield* happened()
      yield* wait(10 * 3_600_000)
      assert.strictEqual(yield* statusOf(id), "failed")
      const { cancelled, failed } = yield* counted
      assert.deepStrictEqual([failed, cancelled], [1, 3])
      const states = (yield* storedDeliveries(id)).map(({ state }) => state)
      assert.sameMembers(states, ["cancelled", "failed", "cancelled", "cancelled", "cancelled"])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)), Layer.provideMerge(ownMetrics))))
  })
})
