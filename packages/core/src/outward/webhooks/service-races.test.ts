import { assert, describe, it } from "@effect/vitest"
import { formatInstant, toBase64 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { SecretBox, SecretUnreadable } from "../../foundation/secret-box.ts"
import { Webhooks } from "./service.ts"
import { created, DAY_MS, engine, hooks } from "./testing/webhook-acts.ts"
import { happened, outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

describe("webhooks that change while something else is under way", () => {
  it.effect("are answered as the requested act leaves them, whatever another act does right after it", () => {
    let behind: Effect.Effect<unknown> = Effect.void
    const racing = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        Effect.tap(storage.commit(change), () => {
          const once = behind
          behind = Effect.void
          return once
        })
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      const webhooks = yield* Webhooks
      const next = (act: Effect.Effect<unknown, unknown>) => Effect.sync(() => void (behind = Effect.orDie(act)))
      yield* next(webhooks.enable(id, systemHost))
      assert.deepInclude(yield* webhooks.disable(id, systemHost), { status: "disabled", cause: "owner" })
      yield* webhooks.disable(id, systemHost)
      yield* next(webhooks.disable(id, systemHost))
      assert.deepInclude(yield* webhooks.enable(id, systemHost), { status: "active", cause: "enabled" })
      yield* next(webhooks.revoke(id, systemHost))
      const rotated = yield* webhooks.rotateSecret(id, {}, systemHost)
      assert.deepInclude(rotated, { status: "disabled", secret_overlap_until: formatInstant(DAY_MS) })
      assert.deepInclude(yield* webhooks.get(id), { status: "revoked", secret_overlap_until: null })
      const other = yield* created()
      yield* webhooks.rotateSecret(other.id, {}, systemHost)
      yield* next(webhooks.rotateSecret(other.id, {}, systemHost))
      assert.deepInclude(yield* webhooks.completeRotation(other.id, systemHost), {
        status: "active",
        secret_overlap_until: null
      })
      assert.deepInclude(yield* webhooks.get(other.id), { secret_overlap_until: formatInstant(DAY_MS) })
      assert.deepInclude(yield* webhooks.revoke(other.id, systemHost), {
        status: "revoked",
        revoked_at: formatInstant(0)
      })
    }).pipe(Effect.provide(webhookWorld(outside(), {}, racing)))
  })

  it.effect("do not recover what happens, or is delivered again, while what was missed is read", () => {
    let meanwhile: Effect.Effect<unknown> = Effect.void
    const racing = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        missed: (query) =>
          Effect.tap(storage.outbox.missed(query), () => {
            const once = meanwhile
            meanwhile = Effect.void
            return once
          })
      }
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* hooks(({ disable }) => disable(id, systemHost))
      yield* hooks(({ enable }) => enable(id, systemHost))
      const [cancelled] = yield* hooks(({ deliveries }) => deliveries(id))
      const webhooks = yield* Webhooks
      meanwhile = Effect.orDie(
        Effect.andThen(
          Effect.provideService(happened(), Storage, yield* Storage),
          webhooks.redeliver(id, cancelled!.id)
        )
      )
      assert.deepInclude(yield* hooks(({ recover }) => recover(id, { since: formatInstant(0) })), {
        count: 0,
        has_more: false
      })
      assert.deepStrictEqual(
        (yield* hooks(({ deliveries }) => deliveries(id))).map(({ sequence, state }) => [sequence, state]),
        [
          [3, "pending"],
          [2, "pending"],
          [1, "cancelled"]
        ]
      )
    }).pipe(Effect.provide(webhookWorld(outside(), {}, racing)))
  })

  it.effect("recover page by page, and continue where a store that was away interrupted them", () => {
    const MISSED = 1_700
    let commits = 0
    const read: Array<number> = []
    const failing = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) =>
        change.again !== undefined && ++commits === 3
          ? Effect.fail(new StorageUnavailable({ reason: "a test", wrote: "no" }))
          : storage.commit(change),
      outbox: {
        ...storage.outbox,
        missed: (query) =>
          Effect.tap(storage.outbox.missed(query), ({ events }) =>
            Effect.sync(() => void read.push(query.limit, events.length))
          )
      }
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* hooks(({ disable }) => disable(id, systemHost))
      const storage = yield* Storage
      yield* storage.commit({
        events: Array.from({ length: MISSED }, (_, n) => ({ type: "agent.registered", data: { n } }))
      })
      yield* hooks(({ enable }) => enable(id, systemHost))
      const since = formatInstant(0)
      assert.strictEqual(
        (yield* Effect.flip(hooks(({ recover }) => recover(id, { since }))))._tag,
        "StorageUnavailable"
      )
      const before = (yield* storage.outbox.deliveriesOf(id, { limit: 1_000 })).length
      assert.strictEqual(before, 1_000)
      assert.deepStrictEqual(yield* hooks(({ recover }) => recover(id, { since, dry_run: true })), {
        count: MISSED - before,
        dry_run: true,
        has_more: false
      })
      assert.deepStrictEqual(yield* hooks(({ recover }) => recover(id, { since })), {
        count: MISSED - before,
        dry_run: false,
        has_more: false
      })
      const owed = [
        ...(yield* storage.outbox.deliveriesOf(id, { limit: 1_000 })),
        ...(yield* storage.outbox.deliveriesOf(id, { limit: 1_000, before: MISSED - 999 }))
      ]
      assert.deepStrictEqual([owed.length, new Set(owed.map(({ eventId }) => eventId)).size], [MISSED, MISSED])
      assert.isAtMost(Math.max(...read), 500, "never more than a page is held")
    }).pipe(Effect.provide(webhookWorld(outside(), {}, failing)))
  })

  it.effect("recover at most ten thousand in one call, and the rest in the next", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      yield* hooks(({ disable }) => disable(id, systemHost))
      const storage = yield* Storage
      for (let n = 0; n < 6; n++)
        yield* storage.commit({
          events: Array.from({ length: n === 5 ? 3 : 2_000 }, () => ({ type: "agent.registered", data: {} }))
        })
      yield* hooks(({ enable }) => enable(id, systemHost))
      const recovered = [1, 2, 3].map(() => hooks(({ recover }) => recover(id, { since: formatInstant(0) })))
      assert.deepStrictEqual(
        (yield* Effect.all(recovered)).map(({ count, has_more: more }) => [count, more]),
        [
          [10_000, true],
          [3, false],
          [0, false]
        ]
      )
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("are sent nothing once they were disabled, though it was claimed before", () => {
    const there = outside()
    let between: Effect.Effect<unknown> = Effect.void
    const halting = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: {
        ...storage.outbox,
        claim: (request) =>
          Effect.tap(storage.outbox.claim(request), ({ claimed }) => (claimed.length === 0 ? Effect.void : between))
      }
    })
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      between = Effect.orDie((yield* Webhooks).disable(id, systemHost))
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle))
      assert.deepStrictEqual(
        [there.arrived, (yield* hooks(({ deliveries }) => deliveries(id))).map(({ state }) => state)],
        [[], ["cancelled"]]
      )
    }).pipe(Effect.provide(webhookWorld(there, {}, halting)))
  })

  it.effect("are signed for after a rotation though the key that sealed the old secret is gone", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created()
      const old = (yield* Storage.use((storage) => storage.get("webhook_secrets", id)))!.body["sealed"]
      yield* hooks(({ rotateSecret }) => rotateSecret(id, { overlap_hours: 1 }, systemHost))
      yield* TestClock.setTime(DAY_MS)
      yield* happened()
      const box = yield* SecretBox
      const open: typeof box.open = (sealed, boundTo) =>
        toBase64(sealed) === old
          ? Effect.fail(new SecretUnreadable({ reason: "the key file has no such key" }))
          : box.open(sealed, boundTo)
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle)).pipe(
        Effect.provideService(SecretBox, { ...box, open })
      )
      assert.lengthOf(there.arrived, 1)
    }).pipe(Effect.provide(webhookWorld(there)))
  })
})
