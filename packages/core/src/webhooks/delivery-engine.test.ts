import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, fromUtf8, portableCrypto } from "@flyball/evidence"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Replay } from "../replay/service.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import type { Delivery } from "../storage/outbox.ts"
import { Storage, type StorageApi } from "../storage/port.ts"
import { systemHost } from "../writer.ts"
import { deliveryEngine, type DeliveryEngineOptions } from "./delivery-engine.ts"
import type { Attempted } from "./ports.ts"
import { verifyDelivery, verifyPlatformSignature } from "./rules/verify.ts"
import { Webhooks } from "./service.ts"
import { accepted, answered, happened, outside, type Outside, settle, unreachable, wait, webhookWorld } from "./testing/webhook-world.ts"

const { sha256 } = portableCrypto
const HOUR_MS = 3_600_000
const hook = (more: { readonly url?: string; readonly events?: ReadonlyArray<"agent.registered" | "webhook.failed">; readonly notify_email?: string } = {}) =>
  Webhooks.use((webhooks) => webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"], ...more }, systemHost))
const statusOf = (id: string) => Webhooks.use((webhooks) => Effect.map(webhooks.get(id), ({ status }) => status))
const deliveriesOf = (id: string) => Storage.use((storage) => storage.outbox.deliveriesOf(id, { limit: 1_000 }))
const finishedRecords = Storage.use((storage) => Effect.map(storage.records({ kinds: ["delivery.finished"], limit: 1_000 }), (records) => records.map(({ bytes }) => JSON.parse(fromUtf8(bytes)!).body)))
const seconds = (there: Outside, path = "") => there.arrived.filter(({ url }) => url.endsWith(path)).map(({ atMs }) => atMs / 1000)
/** Replay knows every document and record that sending leaves. */
const replays = Effect.tap(Replay.use(({ check }) => check), (report) => Effect.sync(() => assert.deepStrictEqual(report.differences, [])))
/** The engine with so long a poll that only what it knows itself, and the bell, moves it. */
const running = (options: DeliveryEngineOptions = {}) => deliveryEngine({ pollMs: 7 * 86_400_000, ...options })

describe("the delivery engine", () => {
  it.effect("tries at the specification's instants exactly, seven times, and then gives the webhook up", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function*() {
      const { id } = yield* hook({ notify_email: "ada@example.org" })
      const other = yield* hook({ url: "https://hooks.example/other", events: ["webhook.failed"] })
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there, "/in"), [0, 60, 360, 2_160, 9_360, 38_160, 124_560])
      assert.strictEqual(yield* statusOf(id), "failed")
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ attempts, state }) => [state, attempts]), [["failed", 7]])
      const [told] = there.arrived.filter(({ url }) => url.endsWith("/other"))
      assert.deepInclude(JSON.parse(fromUtf8(told!.body)!).data, { webhook_id: id, event_type: "agent.registered" })
      assert.strictEqual(told!.atMs, 124_560_000)
      assert.strictEqual(yield* statusOf(other.id), "active")
      const [letter] = yield* Storage.use((storage) => storage.find("mails", "waiting", "yes"))
      assert.deepInclude(letter!.body, { to: "ada@example.org", subject: `Webhook ${id} has failed`, state: "pending" })
      assert.deepStrictEqual((yield* finishedRecords).map(({ attempts, error_code, outcome, status_code }) => ({ attempts, error_code, outcome, status_code })),
        [{ attempts: 7, error_code: "http_status", outcome: "failed", status_code: 500 }])
      yield* replays
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("counts each delay from the end of the attempt before", () => {
    const there = outside()
    there.answer = () => Effect.delay(Effect.succeed(unreachable), 5_000)
    return Effect.gen(function*() {
      yield* hook()
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there), [0, 65, 370, 2_175, 9_380, 38_185, 124_590])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("can count from the first attempt", () => {
    const there = outside()
    there.answer = () => Effect.delay(Effect.succeed(unreachable), 5_000)
    return Effect.gen(function*() {
      yield* hook()
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there), [0, 60, 300, 1_800, 7_200, 28_800, 86_400])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, { schedule: { base: "first_attempt", jitter: 0 } })))))
  })

  it.effect("sends the same bytes each time, signed anew, and stops at the first 2xx", () => {
    const there = outside()
    there.answer = () => Effect.succeed(there.arrived.length < 3 ? answered(503, 90_000) : accepted)
    return Effect.gen(function*() {
      const { secret } = yield* hook()
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.deepStrictEqual(seconds(there), [0, 90, 390])
      for (const { atMs, body, headers } of there.arrived) {
        assert.deepStrictEqual(body, there.arrived[0]!.body)
        assert.isNull(verifyDelivery(secret, { headers, body }, atMs, sha256))
        assert.isNull(verifyPlatformSignature(secret, { headers, body }, sha256))
      }
      const { body, headers } = there.arrived[2]!
      const sent = JSON.parse(fromUtf8(body)!)
      assert.deepStrictEqual(canonicalBytes(sent), body)
      assert.strictEqual(headers["webhook-id"], sent.id)
      assert.deepInclude(headers, { "Content-Type": "application/json", "webhook-sequence": "1", "webhook-timestamp": "390", "X-Platform-Event": "agent.registered", "X-Platform-Attempt": "3" })
      const [finished] = yield* finishedRecords
      assert.deepInclude(finished, { attempts: 3, outcome: "succeeded", status_code: 204, delivery_id: headers["X-Platform-Delivery"] })
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("counts an attempt whose process is gone, from the end of its lease, and never makes an eighth", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* happened()
      // A process that claims and is never heard of again, seven times.
      const storage = yield* Storage
      for (let crash = 1; crash <= 3; crash++) {
        const { claimed } = yield* storage.outbox.claim({ leaseMs: 30_000, limit: 10, perEndpoint: 4 })
        assert.deepStrictEqual(claimed.map(({ delivery }) => delivery.attempts), [crash])
        const due = yield* Effect.scoped(Effect.gen(function*() {
          yield* Layer.build(running())
          yield* wait(30_000)
          return (yield* deliveriesOf(id))[0]!.nextAttemptAtMs!
        }))
        yield* TestClock.setTime(due)
      }
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ attempts, state }) => [attempts, state]), [[3, "pending"]])
      yield* Effect.scoped(Effect.andThen(Layer.build(running()), wait(40 * HOUR_MS)))
      assert.lengthOf(there.arrived, 4)
      const [{ attempts } = { attempts: [] }] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
      assert.deepStrictEqual(attempts.map(({ error }) => error), ["crashed", "crashed", "crashed", "http_status", "http_status", "http_status", "http_status"])
      assert.strictEqual(yield* statusOf(id), "failed")
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("cancels what is owed to a webhook that failed, and sends nothing until it is enabled", () => {
    const there = outside()
    there.answer = ({ headers }) => Effect.succeed(headers["webhook-sequence"] === "1" ? answered(410) : unreachable)
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* happened()
      yield* wait(33 * HOUR_MS)
      yield* happened()
      // A minute after the first one's end the second still waits for its fifth attempt, but for the cancellation.
      yield* wait(97 * 60_000)
      assert.strictEqual(yield* statusOf(id), "failed")
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ attempts, state }) => [attempts, state]), [[4, "cancelled"], [7, "failed"]])
      yield* happened()
      yield* wait(40 * HOUR_MS)
      const states = (yield* deliveriesOf(id)).map(({ state }: Delivery) => state)
      assert.deepStrictEqual(states, ["cancelled", "failed"])
      const before = there.arrived.length
      there.answer = () => Effect.succeed(accepted)
      yield* Webhooks.use((webhooks) => webhooks.enable(id, systemHost))
      yield* happened()
      yield* settle
      assert.lengthOf(there.arrived, before + 1)
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ sequence, state }) => [sequence, state]), [[3, "succeeded"], [2, "cancelled"], [1, "failed"]])
      yield* replays
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("spares a webhook to which other deliveries succeed, where the host says so", () => {
    const there = outside()
    there.answer = ({ headers }) => Effect.succeed(headers["webhook-sequence"] === "1" ? answered(400) : accepted)
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* happened()
      yield* wait(20 * HOUR_MS)
      yield* happened()
      yield* wait(20 * HOUR_MS)
      assert.deepStrictEqual([yield* statusOf(id), (yield* deliveriesOf(id)).map(({ state }) => state)], ["active", ["succeeded", "failed"]])
      there.answer = () => Effect.succeed(answered(400))
      yield* happened()
      yield* wait(40 * HOUR_MS)
      assert.strictEqual(yield* statusOf(id), "failed")
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, { endpointFailure: "no_success_since" })))))
  })

  it.effect("has a receiver that never answers hold four deliveries, and delay no other", () => {
    const there = outside()
    there.answer = ({ url }) => url.endsWith("/hole") ? Effect.never : Effect.succeed(accepted)
    return Effect.gen(function*() {
      yield* hook({ url: "https://hooks.example/hole" })
      const { id } = yield* hook({ url: "https://hooks.example/well" })
      for (let n = 0; n < 40; n++) yield* happened()
      yield* settle
      assert.lengthOf(seconds(there, "/hole"), 4)
      assert.deepStrictEqual(seconds(there, "/well"), Array.from({ length: 40 }, () => 0))
      assert.isTrue((yield* deliveriesOf(id)).every(({ state }) => state === "succeeded"))
    }).pipe(Effect.provide(running({ maxInFlight: 10, drainMs: 0 }).pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("finds what another process committed, within its poll", () => {
    const there = outside()
    /** The store without the bell of this process. */
    let silent: StorageApi | null = null
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* settle
      yield* TestClock.adjust(300)
      yield* silent!.commit({ events: [{ type: "agent.registered", data: {} }] })
      yield* TestClock.adjust(699)
      assert.deepStrictEqual(seconds(there), [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(seconds(there), [1])
      assert.strictEqual((yield* deliveriesOf(id))[0]!.state, "succeeded")
    }).pipe(Effect.provide(deliveryEngine().pipe(Layer.provideMerge(webhookWorld(there, {}, (storage) => silent = storage)))))
  })

  it.effect("drops an outcome quietly when somebody else moved the delivery", () => {
    const there = outside()
    there.answer = ({ url }) => Effect.delay(Effect.succeed(accepted), url.endsWith("/early") ? 3_000 : 4_000)
    // While the first outcome is settled the others come together in one batch.
    const slow = (storage: StorageApi): StorageApi => ({ ...storage, commit: (change) => (change.moves?.length ?? 0) > 0 ? Effect.delay(storage.commit(change), 2_000) : storage.commit(change) })
    return Effect.gen(function*() {
      const early = yield* hook({ url: "https://hooks.example/early" })
      const { id } = yield* hook({ url: "https://hooks.example/slow" })
      const well = yield* hook({ url: "https://hooks.example/well" })
      yield* happened()
      yield* settle
      const [{ id: deliveryId } = { id: "" }] = yield* deliveriesOf(id)
      const storage = yield* Storage
      const cancelled = storage.commit({ moves: [{ id: deliveryId, from: { state: "in_flight", attempts: 1 }, to: { state: "cancelled" }, ended: { endedAtMs: 1, statusCode: null, errorCode: "crashed", responseExcerpt: "" } }] })
      yield* Effect.forkChild(cancelled)
      for (let second = 0; second < 12; second++) yield* Effect.andThen(TestClock.adjust(1_000), settle)
      assert.deepStrictEqual([(yield* deliveriesOf(id))[0]!.state, (yield* deliveriesOf(well.id))[0]!.state], ["cancelled", "succeeded"])
      assert.deepStrictEqual((yield* finishedRecords).map(({ outcome, webhook_id }) => [outcome, webhook_id]), [["succeeded", early.id], ["succeeded", well.id]])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, {}, slow)))))
  })

  it.effect("at its end claims nothing more, lets what is under way finish, and settles it", () => {
    const there = outside()
    there.answer = () => Effect.delay(Effect.succeed(accepted), 3_000)
    return Effect.gen(function*() {
      const { id } = yield* hook()
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(running(), scope)
      for (let n = 0; n < 6; n++) yield* happened()
      yield* settle
      assert.lengthOf(there.arrived, 4)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(3_000)
      yield* settle
      assert.isDefined(closing.pollUnsafe())
      assert.lengthOf(there.arrived, 4)
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ state }) => state), ["pending", "pending", "succeeded", "succeeded", "succeeded", "succeeded"])
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("does not wait for ever at its end: what is still open falls to the lease", () => {
    const there = outside()
    there.answer = () => Effect.never
    return Effect.gen(function*() {
      const { id } = yield* hook()
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(running({ drainMs: 2_000 }), scope)
      yield* happened()
      yield* settle
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(2_000)
      yield* settle
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual((yield* deliveriesOf(id))[0]!.state, "in_flight")
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("goes on after the store was away, and loses nothing of what it sent", () => {
    const there = outside()
    let away = false
    const flaky = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) => away && (change.moves?.length ?? 0) > 0 ? Effect.fail(new StorageUnavailable({ reason: "test", wrote: "no" })) : storage.commit(change)
    })
    there.answer = () => Effect.sync(() => {
      away = true
      return accepted
    })
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* happened()
      yield* settle
      assert.strictEqual((yield* deliveriesOf(id))[0]!.state, "in_flight")
      away = false
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* deliveriesOf(id))[0]!.state, "succeeded")
      assert.lengthOf(there.arrived, 1)
    }).pipe(Effect.provide(deliveryEngine().pipe(Layer.provideMerge(webhookWorld(there, {}, flaky)))))
  })

  it.effect("waits a moment for a store that is away between a claim and its sending", () => {
    const there = outside()
    let away = false
    const flaky = (storage: StorageApi): StorageApi => ({
      ...storage,
      get: (collection, id) => away && collection === "webhook_secrets" ? Effect.fail(new StorageUnavailable({ reason: "test", wrote: "no" })) : storage.get(collection, id)
    })
    return Effect.gen(function*() {
      const { id } = yield* hook()
      away = true
      yield* happened()
      yield* settle
      assert.strictEqual((yield* deliveriesOf(id))[0]!.state, "in_flight")
      away = false
      yield* TestClock.adjust(250)
      yield* settle
      assert.deepStrictEqual((yield* deliveriesOf(id)).map(({ attempts, state }) => [attempts, state]), [[1, "succeeded"]])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there, {}, flaky)))))
  })

  it.effect("settles the others when what a sender says of one cannot be kept", () => {
    const there = outside()
    there.answer = ({ url }) => Effect.succeed(url.endsWith("/odd") ? answered(12_345) : { ...accepted, responseExcerpt: "é".repeat(9_000) })
    return Effect.gen(function*() {
      const odd = yield* hook({ url: "https://hooks.example/odd" })
      const well = yield* hook({ url: "https://hooks.example/well" })
      yield* happened()
      yield* settle
      assert.deepStrictEqual([(yield* deliveriesOf(odd.id))[0]!.state, (yield* deliveriesOf(well.id))[0]!.state], ["in_flight", "succeeded"])
      const [{ attempts } = { attempts: [] }] = yield* Webhooks.use((webhooks) => webhooks.deliveries(well.id))
      assert.lengthOf(attempts[0]!.response_excerpt, 1_024)
      there.answer = () => Effect.succeed(accepted)
      yield* wait(HOUR_MS)
      assert.deepStrictEqual((yield* deliveriesOf(odd.id)).map(({ attempts, state }) => [attempts, state]), [[2, "succeeded"]])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("takes a sender that breaks for an attempt that crashed", () => {
    const there = outside()
    there.answer = () => there.arrived.length === 1 ? Effect.die(new Error("bug")) : Effect.succeed<Attempted>(accepted)
    return Effect.gen(function*() {
      const { id } = yield* hook()
      yield* happened()
      yield* wait(1 * HOUR_MS)
      const [one] = yield* Webhooks.use((webhooks) => webhooks.deliveries(id))
      assert.deepStrictEqual(one!.attempts.map(({ error }) => error), ["crashed", null])
    }).pipe(Effect.provide(running().pipe(Layer.provideMerge(webhookWorld(there)))))
  })
})
