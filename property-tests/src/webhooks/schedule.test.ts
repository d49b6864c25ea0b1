/**
 * Every prefix of successes, failures and crashes of one delivery, under virtual time, with the real engine: when it is
 * tried, how often, and with what.
 */
import { deliveryEngine } from "../../../packages/core/src/outward/webhooks/delivery-engine.ts"
import {
  accepted,
  answered,
  happened,
  type Outside,
  outside,
  untilIdle,
  webhookWorld
} from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"
import type { ScheduleSettings } from "../../../packages/rules/src/webhooks/retry-schedule.ts"
import { Webhooks } from "../../../packages/core/src/outward/webhooks/service.ts"
import { type Delivery, Storage } from "@flyball/core/storage"
import { systemHost } from "@flyball/core"
import { toHex } from "@flyball/evidence"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const SEED = 20_261_122
const LEASE_S = 30
const GIVEN_UP = 7
/** The specification's, written out again: not taken from what is tested. Unit: seconds. */
const delaysS = [0, 60, 300, 1_800, 7_200, 28_800, 86_400]

interface Try {
  readonly end: "success" | "failure" | "crash"
  /** Whole seconds that it takes to be answered. A crash is heard of when the lease ends. */
  readonly tookS: number
  readonly status: number
  readonly retryAfterS: number | null
}

const aTry = (end: Try["end"]) =>
  fc.record({
    end: fc.constant(end),
    tookS: fc.integer({ min: 0, max: 5 }),
    status: fc.constantFrom(301, 404, 410, 429, 500, 503),
    retryAfterS: fc.option(fc.integer({ min: 0, max: 200_000 }))
  })
/** Failures and crashes, and perhaps a success at their end. */
const tries = fc
  .tuple(fc.array(fc.oneof(aTry("failure"), aTry("crash")), { maxLength: GIVEN_UP + 2 }), aTry("success"))
  .map(([bad, good]) => [...bad, good])
const schedule = fc.record({
  base: fc.constantFrom("previous_attempt" as const, "first_attempt" as const),
  jitter: fc.constantFrom(0, 0, 0.1),
  followRetryAfter: fc.constantFrom(true, false, undefined)
})

/** When an attempt may begin, at the earliest and the latest. */
interface Window {
  readonly fromS: number
  readonly toS: number
}

/** Window of the next attempt, according to the decision. */
const windowAfter = (attempt: number, startS: number, one: Try, settings: ScheduleSettings): Window => {
  const { base, followRetryAfter, jitter } = settings
  const delayS = delaysS[attempt]!
  const endS = startS + (one.end === "crash" ? LEASE_S : one.tookS)
  const dueS = base === "first_attempt" ? Math.max(endS, delayS) : endS + delayS
  const follows = followRetryAfter === true && one.end === "failure" && (one.status === 429 || one.status === 503)
  const asks = follows && one.retryAfterS !== null ? endS + one.retryAfterS : 0
  const requestedS = Math.min(asks, dueS + delayS)
  return { fromS: Math.max(dueS, requestedS), toS: Math.max(dueS + delayS * jitter, requestedS) }
}

/** One life of a delivery: the requests that were seen, and how it stands at the end. */
const live = (script: ReadonlyArray<Try>, settings: ScheduleSettings) => {
  const there = outside()
  let died = false
  there.answer = () => {
    const one = script[there.arrived.length - 1] ?? script.at(-1)!
    if (one.end === "crash")
      return Effect.andThen(
        Effect.sync(() => void (died = true)),
        Effect.never
      )
    return Effect.delay(
      Effect.succeed(
        one.end === "success"
          ? accepted
          : answered(one.status, one.retryAfterS === null ? null : one.retryAfterS * 1_000)
      ),
      one.tookS * 1_000
    )
  }
  /** A process: it ends at once when it dies, without a word. */
  const engine = deliveryEngine({ leaseMs: LEASE_S * 1_000, pollMs: 30 * 86_400_000, drainMs: 0 })
  return Effect.gen(function* () {
    const { id } = yield* Webhooks.use((webhooks) =>
      webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"] }, systemHost)
    )
    const storage = yield* Storage
    let scope = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.fresh(engine), scope)
    yield* happened()
    for (;;) {
      yield* untilIdle
      if (died) {
        died = false
        yield* Scope.close(scope, Exit.void)
        scope = yield* Scope.make()
        yield* Layer.buildWithScope(Layer.fresh(engine), scope)
        continue
      }
      const [delivery] = yield* storage.outbox.deliveriesOf(id, { limit: 1 })
      const nextMs = nextOf(delivery!, script, there)
      if (nextMs === null) {
        yield* Scope.close(scope, Exit.void)
        const webhook = yield* Webhooks.use((webhooks) => webhooks.get(id))
        return { there, delivery: delivery!, status: webhook.status }
      }
      yield* TestClock.setTime(nextMs)
    }
  }).pipe(Effect.provide(webhookWorld(there, { schedule: settings })), Effect.provide(TestClock.layer()))
}

/**
 * When something happens next: what waits is due, or the receiver answers; and where that has died, the lease ends.
 * Straight there: each instant on the way costs many turns of the event loop.
 */
const nextOf = (
  { leaseUntilMs, nextAttemptAtMs, state }: Delivery,
  script: ReadonlyArray<Try>,
  { arrived }: Outside
): number | null => {
  if (state === "pending") return nextAttemptAtMs
  if (state !== "in_flight") return null
  const one = script[arrived.length - 1] ?? script.at(-1)!
  return one.end === "crash" ? leaseUntilMs : arrived.at(-1)!.atMs + one.tookS * 1_000
}

/** Sums of parts of seconds are not exact. */
const wholeMs = (seconds: number): number => Math.round(seconds * 1_000)

describe("the life of a delivery", () => {
  it("follows the schedule, and has at most seven attempts with the same bytes", async () => {
    await fc.assert(
      fc.asyncProperty(tries, schedule, async (script, settings) => {
        const { delivery, status, there } = await Effect.runPromise(live(script, settings))
        const made = Math.min(script.length, GIVEN_UP)
        const startsS = there.arrived.map(({ atMs }) => atMs / 1_000)
        assert.strictEqual(startsS.length, made)
        assert.strictEqual(startsS[0], 0)
        for (let attempt = 1; attempt < made; attempt++) {
          const { fromS, toS } = windowAfter(attempt, startsS[attempt - 1]!, script[attempt - 1]!, settings)
          assert.isAtLeast(wholeMs(startsS[attempt]!), wholeMs(fromS))
          assert.isAtMost(wholeMs(startsS[attempt]!), wholeMs(toS))
        }
        const given = script.length > GIVEN_UP || (script.length === GIVEN_UP && script.at(-1)!.end !== "success")
        assert.deepStrictEqual(
          [delivery.state, delivery.attempts, status],
          given ? ["failed", GIVEN_UP, "failed"] : ["succeeded", made, "active"]
        )
        assert.strictEqual(new Set(there.arrived.map(({ body }) => toHex(body))).size, 1)
        assert.strictEqual(new Set(there.arrived.map(({ headers }) => headers["webhook-id"])).size, 1)
        const stamps = there.arrived.map(({ headers }) => Number(headers["webhook-timestamp"]))
        assert.isTrue(
          stamps.every((stamp, at) => at === 0 || stamp > stamps[at - 1]!),
          `${stamps}`
        )
      }),
      { numRuns: 40, seed: SEED }
    )
  })
})
