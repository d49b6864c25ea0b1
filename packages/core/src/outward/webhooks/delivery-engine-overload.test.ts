/**
 * A receiver that hangs, and is owed more than its places let through: what is due longest is tried first, so it too
 * comes to its seventh attempt.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Storage } from "../../storage/port.ts"
import { running, seconds } from "./testing/running-engine.ts"
import { created, statusOf, storedDeliveries } from "./testing/webhook-acts.ts"
import { accepted, happened, outside, untilIdle, unreachable, webhookWorld } from "./testing/webhook-world.ts"

const twoReceivers = Effect.gen(function* () {
  const hole = yield* created({ url: "https://hooks.example/hole", notify_email: "ada@example.org" })
  yield* created({ url: "https://hooks.example/well" })
  return hole.id
})

/** One that takes so long to time out, and one that answers at once. */
const aHole = (tookMs: number) => {
  const there = outside()
  there.answer = ({ url }) =>
    url.endsWith("/hole") ? Effect.delay(Effect.succeed(unreachable), tookMs) : Effect.succeed(accepted)
  return there
}

describe("a receiver that hangs under steady traffic", () => {
  it.effect("gets its retries between its first attempts, and delays no other receiver", () => {
    const there = aHole(5_000)
    return Effect.gen(function* () {
      yield* twoReceivers
      const lengthS = 300
      for (let second = 0; second < lengthS; second++) {
        yield* happened()
        yield* untilIdle
        yield* TestClock.adjust(1_000)
      }
      const attempts = there.arrived
        .filter(({ url }) => url.endsWith("/hole"))
        .map(({ headers }) => Number(headers["X-Platform-Attempt"]))
      // All four places are in use all the time.
      assert.isAtLeast(attempts.length, ((lengthS - 4) * 4) / 5)
      assert.isAbove(attempts.filter((attempt) => attempt === 2).length, lengthS / 10)
      assert.deepStrictEqual(
        seconds(there, "/well"),
        Array.from({ length: lengthS }, (_, second) => second)
      )
    }).pipe(Effect.provide(running({ drainMs: 0 }).pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  /**
   * As much too slow as four places of 5 s are for one event a second, and so slow that 11 days are few requests. Unit:
   * seconds.
   */
  const [tookS, everyS] = [3_000, 2_400]

  it.effect("fails with the seventh attempt of a delivery, and its owner is owed a letter", () => {
    const there = aHole(tookS * 1_000)
    return Effect.gen(function* () {
      const id = yield* twoReceivers
      let reported = 0
      while (reported < 500 && (yield* statusOf(id)) === "active") {
        yield* happened()
        reported++
        for (let passedS = 0; passedS < everyS; passedS += 600) {
          yield* untilIdle
          yield* TestClock.adjust(600_000)
        }
      }
      assert.strictEqual(yield* statusOf(id), "failed")
      const deliveries = yield* storedDeliveries(id)
      assert.deepStrictEqual(
        deliveries.filter(({ state }) => state === "failed").map(({ attempts, sequence }) => [sequence, attempts]),
        [[1, 7]]
      )
      assert.isTrue(deliveries.every(({ state }) => state !== "pending"))
      const [letter] = yield* Storage.use((storage) => storage.find("mails", "waiting", "yes"))
      assert.deepInclude(letter!.body, { to: "ada@example.org", subject: `Webhook ${id} has failed` })
      assert.deepStrictEqual(
        seconds(there, "/well"),
        Array.from({ length: reported }, (_, n) => n * everyS)
      )
    }).pipe(
      Effect.provide(
        running({ drainMs: 0, perEndpoint: 1, leaseMs: 3_600_000 }).pipe(Layer.provideMerge(webhookWorld(there)))
      )
    )
  })
})
