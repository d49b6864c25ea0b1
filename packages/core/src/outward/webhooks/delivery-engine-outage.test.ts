import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../storage/faults.ts"
import type { StorageApi } from "../../storage/port.ts"
import { deliveryEngine } from "./delivery-engine.ts"
import { outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"
import { LOG_AGAIN_MS, logRarely } from "../../foundation/log-rarely.ts"

const listening = () => {
  const said: Array<string> = []
  return {
    said,
    logger: Logger.layer([
      Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${String([message].flat()[0])}`))
    ])
  }
}

describe("a fault that comes with every poll", () => {
  it.effect("is logged at first, after ten minutes, when its cause is another one, and when it is over", () => {
    const { logger, said } = listening()
    return Effect.gen(function* () {
      const { over, reported } = logRarely("It failed.", "It works.")
      const failed = (reason: string) => reported(Cause.fail(new Error(reason)))
      yield* over
      for (let second = 0; second <= LOG_AGAIN_MS / 1_000; second++)
        yield* Effect.andThen(failed("away"), TestClock.adjust(1_000))
      yield* failed("full")
      yield* over
      yield* over
      yield* failed("full")
      assert.deepStrictEqual(said, [
        "Error It failed.",
        "Error It failed. It failed 599 more times since the last report.",
        "Error It failed.",
        "Info It works.",
        "Error It failed."
      ])
    }).pipe(Effect.provide(logger))
  })

  it.effect("is how the delivery engine tells of a store that is away", () => {
    const { logger, said } = listening()
    let away = true
    const flaky = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        claim: (query) =>
          away
            ? Effect.fail(new StorageUnavailable({ reason: "Postgres did not answer", wrote: "no" }))
            : storage.outbox.claim(query)
      }
    })
    return Effect.gen(function* () {
      const tick = Effect.andThen(TestClock.adjust(1_000), untilIdle)
      yield* Effect.andThen(untilIdle, Effect.repeat(tick, { times: 9 }))
      away = false
      yield* Effect.andThen(tick, tick)
      assert.deepStrictEqual(said, [
        "Error Webhook deliveries could not be claimed; the engine tries again.",
        "Info Webhook deliveries can be claimed again."
      ])
    }).pipe(
      Effect.provide(
        deliveryEngine().pipe(Layer.provideMerge(webhookWorld(outside(), {}, flaky)), Layer.provideMerge(logger))
      )
    )
  })
})
