import { assert, describe, it } from "@effect/vitest"
import { formatInstant, toBase64 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Storage, type StorageApi } from "../storage/port.ts"
import { systemHost } from "../writer.ts"
import { deliveryEngine } from "./delivery-engine.ts"
import { SecretBox, SecretUnreadable } from "./ports.ts"
import { Webhooks, type WebhooksApi } from "./service.ts"
import { happened, outside, settle, webhookWorld } from "./testing/webhook-world.ts"

const DAY_MS = 86_400_000
const engine = deliveryEngine({ pollMs: 30 * DAY_MS })
const created = () => Webhooks.use((webhooks) => webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"] }, systemHost))
const hooks = <A, E>(use: (webhooks: WebhooksApi) => Effect.Effect<A, E>) => Webhooks.use(use)

describe("webhooks that change while something else is under way", () => {
  it.effect("do not recover what happens while what was missed is read", () => {
    let isRead = false
    const racing = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        events: (query) => Effect.suspend(() => {
          if (!isRead) return storage.outbox.events(query)
          isRead = false
          return Effect.andThen(Effect.orDie(storage.commit({ events: [{ type: "agent.registered", data: {} }] })), storage.outbox.events(query))
        })
      }
    })
    return Effect.gen(function*() {
      const { id } = yield* created()
      isRead = true
      assert.deepInclude(yield* hooks(({ recover }) => recover(id, { since: formatInstant(0) })), { count: 0 })
      assert.lengthOf(yield* hooks(({ deliveries }) => deliveries(id)), 1)
    }).pipe(Effect.provide(webhookWorld(outside(), {}, racing)))
  })

  it.effect("are sent nothing once they were disabled, though it was claimed before", () => {
    const there = outside()
    let between: Effect.Effect<unknown> = Effect.void
    const halting = (storage: StorageApi): StorageApi => ({
      ...storage, outbox: { ...storage.outbox, claim: (request) => Effect.tap(storage.outbox.claim(request), ({ claimed }) => claimed.length === 0 ? Effect.void : between) }
    })
    return Effect.gen(function*() {
      const { id } = yield* created()
      yield* happened()
      between = Effect.orDie((yield* Webhooks).disable(id, systemHost))
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), settle))
      assert.deepStrictEqual([there.arrived, (yield* hooks(({ deliveries }) => deliveries(id))).map(({ state }) => state)], [[], ["cancelled"]])
    }).pipe(Effect.provide(webhookWorld(there, {}, halting)))
  })

  it.effect("are signed for after a rotation though the key that sealed the old secret is gone", () => {
    const there = outside()
    return Effect.gen(function*() {
      const { id } = yield* created()
      const old = (yield* Storage.use((storage) => storage.get("webhook_secrets", id)))!.body["sealed"]
      yield* hooks(({ rotateSecret }) => rotateSecret(id, { overlap_hours: 1 }, systemHost))
      yield* TestClock.setTime(DAY_MS)
      yield* happened()
      const box = yield* SecretBox
      const open: typeof box.open = (sealed, boundTo) => toBase64(sealed) === old ? Effect.fail(new SecretUnreadable({ reason: "the key file has no such key" })) : box.open(sealed, boundTo)
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), settle)).pipe(Effect.provideService(SecretBox, { ...box, open }))
      assert.lengthOf(there.arrived, 1)
    }).pipe(Effect.provide(webhookWorld(there)))
  })
})
