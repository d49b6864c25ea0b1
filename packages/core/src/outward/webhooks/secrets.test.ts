import { assert, describe, it } from "@effect/vitest"
import { formatInstant, portableCrypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { systemHost } from "../../foundation/writer.ts"
import { verifyDelivery, verifyPlatformSignature } from "@flyball/rules"
import { bodiesOf, created, engine, hooks, replays, tagOf } from "./testing/webhook-acts.ts"
import { happened, outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

const { sha256 } = portableCrypto

describe("webhooks", () => {
  it.effect(
    "rotate their secret: both are accepted until the overlap ends, the header with room for one keeps the old one",
    () => {
      const there = outside()
      return Effect.gen(function* () {
        const { id, secret: old } = yield* created()
        const rotated = yield* hooks(({ rotateSecret }) => rotateSecret(id, { overlap_hours: 2 }, systemHost))
        assert.notStrictEqual(rotated.secret, old)
        assert.strictEqual(rotated.secret_overlap_until, formatInstant(2 * 3_600_000))
        assert.strictEqual(yield* tagOf(({ rotateSecret }) => rotateSecret(id, {}, systemHost)), "RotationUnderWay")
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Layer.build(engine)
            for (const atMs of [0, 2 * 3_600_000 - 1, 2 * 3_600_000]) {
              yield* TestClock.setTime(atMs)
              yield* happened()
              yield* untilIdle
            }
          })
        )
        const accepted = there.arrived.map((one) =>
          [old, rotated.secret].map((secret) => verifyDelivery(secret, one, one.atMs, sha256) === null)
        )
        const single = there.arrived.map((one) =>
          [old, rotated.secret].map((secret) => verifyPlatformSignature(secret, one, sha256) === null)
        )
        assert.deepStrictEqual(accepted, [
          [true, true],
          [true, true],
          [false, true]
        ])
        assert.deepStrictEqual(single, [
          [true, false],
          [true, false],
          [false, true]
        ])
        assert.deepInclude(yield* hooks(({ rotateSecret }) => rotateSecret(id, { overlap_hours: 0 }, systemHost)), {
          secret_overlap_until: null
        })
        yield* replays
      }).pipe(Effect.provide(webhookWorld(there)))
    }
  )

  it.effect("complete a rotation before its time, for a sender that had the keys at hand too", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id, secret: old } = yield* created()
      yield* Layer.build(engine)
      const { secret } = yield* hooks(({ rotateSecret }) => rotateSecret(id, {}, systemHost))
      yield* happened()
      yield* untilIdle
      assert.deepInclude(yield* hooks(({ completeRotation }) => completeRotation(id, systemHost)), {
        secret_overlap_until: null
      })
      yield* hooks(({ completeRotation }) => completeRotation(id, systemHost))
      yield* happened()
      yield* untilIdle
      assert.deepStrictEqual(
        there.arrived.map((one) => [old, secret].map((each) => verifyDelivery(each, one, one.atMs, sha256) === null)),
        [
          [true, true],
          [false, true]
        ]
      )
      assert.deepStrictEqual(
        (yield* bodiesOf("webhook.changed")).map(({ cause }) => cause),
        ["secret_rotated", "secret_rotated"]
      )
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
  })
})
