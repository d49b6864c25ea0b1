/** Rotations at any time with any overlap: a receiver with either secret accepts for as long as it was promised. */
import {
  SECRET_BYTES,
  secretKeys,
  secretText,
  signatureHeaders,
  type SigningKeys,
  verifyDelivery,
  verifyPlatformSignature
} from "@flyball/rules"
import { systemHost } from "@flyball/core"
import { portableCrypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { deliveryEngine } from "../../../packages/core/src/outward/webhooks/delivery-engine.ts"
import { Webhooks } from "../../../packages/core/src/outward/webhooks/service.ts"
import {
  happened,
  outside,
  untilIdle,
  webhookWorld
} from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"

const SEED = 20_261_124
const HOUR_MS = 3_600_000
const { sha256 } = portableCrypto

const secret = fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES }).map((bytes) => secretText(bytes))
const keysOf = (text: string) => secretKeys(text, sha256)!

describe("a rotation", () => {
  it("signs with both secrets until the overlap ends, and with the new one alone from then on", () => {
    fc.assert(
      fc.property(
        secret,
        secret,
        fc.nat({ max: 72 * HOUR_MS }),
        fc.nat({ max: 80 * HOUR_MS }),
        fc.uint8Array({ maxLength: 200 }),
        (old, current, untilMs, atMs, body) => {
          fc.pre(old !== current)
          const keys: SigningKeys = { current: keysOf(current), old: { keys: keysOf(old), untilMs } }
          const headers = signatureHeaders(keys, { id: "evt_1", atMs, body }, sha256)
          const during = atMs < untilMs
          assert.isNull(verifyDelivery(current, { headers, body }, atMs, sha256))
          assert.strictEqual(verifyDelivery(old, { headers, body }, atMs, sha256), during ? null : "signature_wrong")
          assert.strictEqual(verifyPlatformSignature(old, { headers, body }, sha256) === null, during)
          assert.strictEqual(verifyPlatformSignature(current, { headers, body }, sha256) === null, !during)
        }
      ),
      { numRuns: 200, seed: SEED }
    )
  })

  it("signs with the secrets that are valid at sending, after any number of rotations", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("rotate" as const), hours: fc.integer({ min: 0, max: 72 }) }),
      fc.record({ do: fc.constant("complete" as const), hours: fc.constant(0) }),
      fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 0, max: 80 }) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), (steps) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const there = outside()
            yield* Effect.gen(function* () {
              const webhooks = yield* Webhooks
              const created = yield* webhooks.create(
                { url: "https://hooks.example/in", events: ["agent.registered"] },
                systemHost
              )
              let current = created.secret
              let old: { readonly secret: string; readonly untilMs: number } | null = null
              let nowMs = 0
              yield* Layer.build(deliveryEngine({ pollMs: 365 * 24 * HOUR_MS }))
              for (const { do: what, hours } of steps) {
                if (what === "wait") yield* TestClock.setTime((nowMs += hours * HOUR_MS))
                if (what === "complete") {
                  yield* webhooks.completeRotation(created.id, systemHost)
                  old = null
                }
                if (what === "rotate") {
                  const rotated = yield* Effect.result(
                    webhooks.rotateSecret(created.id, { overlap_hours: hours }, systemHost)
                  )
                  // Two secrets at most: while both sign, another rotation is refused.
                  assert.strictEqual(rotated._tag === "Failure", old !== null && nowMs < old.untilMs)
                  if (rotated._tag === "Success") {
                    old = { secret: current, untilMs: nowMs + hours * HOUR_MS }
                    current = rotated.success.secret
                  }
                }
                yield* happened()
                yield* untilIdle
                const sent = there.arrived.at(-1)!
                assert.strictEqual(sent.atMs, nowMs)
                assert.isNull(verifyDelivery(current, sent, nowMs, sha256))
                if (old !== null)
                  assert.strictEqual(verifyDelivery(old.secret, sent, nowMs, sha256) === null, nowMs < old.untilMs)
                assert.isNull(
                  verifyPlatformSignature(old !== null && nowMs < old.untilMs ? old.secret : current, sent, sha256)
                )
              }
              assert.lengthOf(there.arrived, steps.length)
            }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)), Effect.provide(TestClock.layer()))
          })
        )
      ),
      { numRuns: 40, seed: SEED }
    )
  })
})
