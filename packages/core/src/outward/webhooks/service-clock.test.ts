import { assert, describe, it } from "@effect/vitest"
import { formatInstant, portableCrypto } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import type { StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { verifyDelivery } from "@flyball/rules"
import { created, hooks } from "./testing/webhook-acts.ts"
import { outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The store's time, as that of a database on another host. */
const STORE_MS = Date.UTC(2026, 10, 22)

/** A store whose clock shows another time than this process's. */
const apart = (storage: StorageApi): StorageApi => ({
  ...storage,
  asOf: Effect.map(storage.asOf, ({ seq }) => ({ ms: STORE_MS, seq }))
})
const world = (there = outside()) => webhookWorld(there, {}, apart)

describe("a process whose clock is not the store's", () => {
  it.effect("ends a rotation's overlap by the store's time, by which deliveries are signed", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      const { id } = yield* created()
      const rotated = yield* hooks(({ rotateSecret }) => rotateSecret(id, { overlap_hours: 2 }, systemHost))
      assert.strictEqual(rotated.secret_overlap_until, formatInstant(STORE_MS + 2 * HOUR_MS))
      assert.strictEqual((yield* hooks(({ get }) => get(id))).secret_overlap_until, rotated.secret_overlap_until)
      assert.isNull(
        (yield* hooks(({ completeRotation }) => completeRotation(id, systemHost))).secret_overlap_until,
        "it is under way by the store's time"
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("recovers 14 days back from the store's time", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      const recover = (sinceMs: number) => hooks((webhooks) => webhooks.recover(id, { since: formatInstant(sinceMs) }))
      assert.deepInclude(yield* recover(STORE_MS - 14 * DAY_MS), { count: 0 })
      assert.strictEqual((yield* Effect.flip(recover(STORE_MS - 14 * DAY_MS - 1)))._tag, "InvalidInput")
    }).pipe(Effect.provide(world()))
  )

  it.effect("signs a test by the store's time", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id, secret } = yield* created()
      yield* hooks(({ test }) => test(id))
      yield* untilIdle
      assert.isNull(verifyDelivery(secret, there.arrived[0]!, STORE_MS, portableCrypto.sha256))
    }).pipe(Effect.provide(world(there)))
  })
})
