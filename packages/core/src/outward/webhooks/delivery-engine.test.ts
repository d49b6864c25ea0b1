import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, fromUtf8, portableCrypto } from "@flyball/evidence"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Delivery } from "../../storage/outbox/outbox.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { deliveryEngine } from "./delivery-engine.ts"
import { exactSchedule, verifyDelivery, verifyPlatformSignature } from "@flyball/rules"
import { Webhooks } from "./service.ts"
import { running, seconds } from "./testing/running-engine.ts"
import { bodiesOf, created, replays, statusOf, storedDeliveries } from "./testing/webhook-acts.ts"
import {
  accepted,
  answered,
  happened,
  outside,
  untilIdle,
  unreachable,
  wait,
  webhookWorld
} from "./testing/webhook-world.ts"

const { sha256 } = portableCrypto
const HOUR_MS = 3_600_000

describe("the delivery engine", () => {
  it.effect("attempts at the specification's instants exactly, seven times, and then fails the webhook", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function* () {
      const { id } = yield* created({ notify_email: "ada@example.org" })
      const other = yield* created({ url: "https://hooks.example/other", events: ["webhook.failed"] })
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there, "/in"), [0, 60, 360, 2_160, 9_360, 38_160, 124_560])
      assert.strictEqual(yield* statusOf(id), "failed")
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ attempts, state }) => [state, attempts]),
        [["failed", 7]]
      )
      const [reported] = there.arrived.filter(({ url }) => url.endsWith("/other"))
      assert.deepInclude(JSON.parse(fromUtf8(reported!.body)!).data, { webhook_id: id, event_type: "agent.registered" })
      assert.strictEqual(reported!.atMs, 124_560_000)
      assert.strictEqual(yield* statusOf(other.id), "active")
      const [letter] = yield* Storage.use((storage) => storage.find("mails", "waiting", "yes"))
      assert.deepInclude(letter!.body, { to: "ada@example.org", subject: `Webhook ${id} has failed`, state: "pending" })
      assert.deepStrictEqual(
        (yield* bodiesOf("delivery.finished")).map(({ attempts, error_code, outcome, status_code }) => ({
          attempts,
          error_code,
          outcome,
          status_code
        })),
        [{ attempts: 7, error_code: "http_status", outcome: "failed", status_code: 500 }]
      )
      yield* replays
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  for (const [name, settings, expectedSeconds] of [
    ["counts each delay from the end of the attempt before", {}, [0, 65, 370, 2_175, 9_380, 38_185, 124_590]],
    [
      "can count from the first attempt",
      { schedule: { base: "first_attempt", jitter: 0 } },
      [0, 60, 300, 1_800, 7_200, 28_800, 86_400]
    ]
  ] as const) {
    it.effect(name, () => {
      const there = outside()
      there.answer = () => Effect.delay(Effect.succeed(unreachable), 5_000)
      return Effect.gen(function* () {
        yield* created()
        yield* happened()
        yield* wait(40 * HOUR_MS)
        assert.deepStrictEqual(seconds(there), [...expectedSeconds])
      }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, settings)))))
    })
  }

  it.effect.each([
    ["keeps to the schedule whatever Retry-After asks for", undefined, [0, 60, 360]],
    ["follows Retry-After where its settings say so", true, [0, 90, 390]]
  ] as const)("%s", ([, followRetryAfter, expectedSeconds]) => {
    const there = outside()
    there.answer = () => Effect.succeed(there.arrived.length < 3 ? answered(503, 90_000) : accepted)
    const world = webhookWorld(there, { schedule: { ...exactSchedule, followRetryAfter } })
    return Effect.gen(function* () {
      yield* created()
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there), [...expectedSeconds])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(world))))
  })

  it.effect("sends the same bytes each time, signed again, and stops at the first 2xx", () => {
    const there = outside()
    there.answer = () => Effect.succeed(there.arrived.length < 3 ? answered(503, 90_000) : accepted)
    return Effect.gen(function* () {
      const { secret } = yield* created()
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there), [0, 60, 360])
      for (const { atMs, body, headers } of there.arrived) {
        assert.deepStrictEqual(body, there.arrived[0]!.body)
        assert.isNull(verifyDelivery(secret, { headers, body }, atMs, sha256))
        assert.isNull(verifyPlatformSignature(secret, { headers, body }, sha256))
      }
      const { body, headers } = there.arrived[2]!
      const sent = JSON.parse(fromUtf8(body)!)
      assert.deepStrictEqual(canonicalBytes(sent), body)
      assert.strictEqual(headers["webhook-id"], sent.id)
      assert.deepInclude(headers, {
        "Content-Type": "application/json",
        "webhook-sequence": "1",
        "webhook-timestamp": "360",
        "X-Platform-Event": "agent.registered",
        "X-Platform-Attempt": "3"
      })
      const [finished] = yield* bodiesOf("delivery.finished")
      assert.deepInclude(finished, {
        attempts: 3,
        outcome: "succeeded",
        status_code: 204,
        delivery_id: headers["X-Platform-Delivery"]
      })
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("cancels what is owed to a webhook that failed, and sends nothing until it is enabled", () => {
    const there = outside()
    there.answer = ({ headers }) => Effect.succeed(headers["webhook-sequence"] === "1" ? answered(410) : unreachable)
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* wait(33 * HOUR_MS)
      yield* happened()
      // A minute after the first one's end the second still waits for its fifth attempt, but for the cancellation.
      yield* wait(97 * 60_000)
      assert.strictEqual(yield* statusOf(id), "failed")
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ attempts, state }) => [attempts, state]),
        [
          [4, "cancelled"],
          [7, "failed"]
        ]
      )
      yield* happened()
      yield* wait(40 * HOUR_MS)
      const states = (yield* storedDeliveries(id)).map(({ state }: Delivery) => state)
      assert.deepStrictEqual(states, ["cancelled", "failed"])
      const before = there.arrived.length
      there.answer = () => Effect.succeed(accepted)
      yield* Webhooks.use((webhooks) => webhooks.enable(id, systemHost))
      yield* happened()
      yield* untilIdle
      assert.lengthOf(there.arrived, before + 1)
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ sequence, state }) => [sequence, state]),
        [
          [3, "succeeded"],
          [2, "cancelled"],
          [1, "failed"]
        ]
      )
      yield* replays
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("spares a webhook to which other deliveries succeed, where the host says so", () => {
    const there = outside()
    there.answer = ({ headers }) => Effect.succeed(headers["webhook-sequence"] === "1" ? answered(400) : accepted)
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* wait(20 * HOUR_MS)
      yield* happened()
      yield* wait(20 * HOUR_MS)
      assert.deepStrictEqual(
        [yield* statusOf(id), (yield* storedDeliveries(id)).map(({ state }) => state)],
        ["active", ["succeeded", "failed"]]
      )
      there.answer = () => Effect.succeed(answered(400))
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.strictEqual(yield* statusOf(id), "failed")
    }).pipe(
      Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, { endpointFailure: "no_success_since" }))))
    )
  })

  it.effect("has a receiver that never answers hold four deliveries, and delay no other", () => {
    const there = outside()
    there.answer = ({ url }) => (url.endsWith("/hole") ? Effect.never : Effect.succeed(accepted))
    return Effect.gen(function* () {
      yield* created({ url: "https://hooks.example/hole" })
      const { id } = yield* created({ url: "https://hooks.example/well" })
      for (let n = 0; n < 40; n++) yield* happened()
      yield* untilIdle
      assert.lengthOf(seconds(there, "/hole"), 4)
      assert.deepStrictEqual(
        seconds(there, "/well"),
        Array.from({ length: 40 }, () => 0)
      )
      assert.isTrue((yield* storedDeliveries(id)).every(({ state }) => state === "succeeded"))
    }).pipe(Effect.provide(running({ maxInFlight: 10, drainMs: 0 }).pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("finds what another process committed, within its poll", () => {
    const there = outside()
    /** The store without the listener of this process. */
    let silent: StorageApi | null = null
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* untilIdle
      yield* TestClock.adjust(300)
      yield* silent!.commit({ events: [{ type: "agent.registered", data: {} }] })
      yield* TestClock.adjust(699)
      assert.deepStrictEqual(seconds(there), [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(seconds(there), [1])
      assert.strictEqual((yield* storedDeliveries(id))[0]!.state, "succeeded")
    }).pipe(
      Effect.provide(
        deliveryEngine().pipe(Layer.provideMerge(webhookWorld(there, {}, (storage) => (silent = storage))))
      )
    )
  })

  it.effect("at its end claims nothing more, lets what is under way finish, and commits it", () => {
    const there = outside()
    there.answer = () => Effect.delay(Effect.succeed(accepted), 3_000)
    return Effect.gen(function* () {
      const { id } = yield* created()
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(running(), scope)
      for (let n = 0; n < 6; n++) yield* happened()
      yield* untilIdle
      assert.lengthOf(there.arrived, 4)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(3_000)
      yield* untilIdle
      assert.isDefined(closing.pollUnsafe())
      assert.lengthOf(there.arrived, 4)
      assert.deepStrictEqual(
        (yield* storedDeliveries(id)).map(({ state }) => state),
        ["pending", "pending", "succeeded", "succeeded", "succeeded", "succeeded"]
      )
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("does not wait for ever at its end: what is still open falls to the lease", () => {
    const there = outside()
    there.answer = () => Effect.never
    return Effect.gen(function* () {
      const { id } = yield* created()
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(running({ drainMs: 2_000 }), scope)
      yield* happened()
      yield* untilIdle
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(2_000)
      yield* untilIdle
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual((yield* storedDeliveries(id))[0]!.state, "in_flight")
    }).pipe(Effect.provide(webhookWorld(there)))
  })
})
