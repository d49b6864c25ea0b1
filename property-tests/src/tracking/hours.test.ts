/** Positions over hours and days of the clock: what is recorded, revised, verified, altered and deleted. */
import { ephemeralKeys, governorLayer, type GovernorServices, keysLayerOf, memoryStorage } from "@flyball/core"
import { layerOf, type Storage } from "@flyball/core/storage"
import { canonicalBytes, utf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { assert, it } from "vitest"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { Tracking } from "../../../packages/platform/src/tracking/service.ts"

it("records the digest of an hour once it is over, and again where late positions came; replay agrees", () =>
  Effect.gen(function* () {
    const tracking = yield* Tracking
    const HOUR = 3_600_000
    yield* TestClock.setTime(1_000 * HOUR)
    const at = (ms: number) => [{ vehicle_id: "v", at: new Date(ms).toISOString(), latitude: 52.5, longitude: 13.4 }]
    yield* tracking.track("ops", at(1_000 * HOUR - 2_000))
    yield* tracking.track("ops", at(1_000 * HOUR - 1_000))
    const digests = Effect.map(recorded, (all) =>
      all.flatMap(({ body, kind }) => (kind === "positions.recorded" ? [body as any] : []))
    )
    yield* tracking.round
    assert.deepStrictEqual(yield* digests, [])
    yield* TestClock.adjust(601_000)
    yield* tracking.round
    yield* tracking.round
    const history = tracking.history("ops", "v", { from: new Date(998.5 * HOUR).toISOString() })
    const [hour] = (yield* history).hours
    const bytes = Buffer.concat([utf8(`${hour!.salt}\n`), canonicalBytes(hour!.columns)])
    assert.strictEqual(hour!.digest, createHash("sha256").update(bytes).digest("hex"))
    assert.deepStrictEqual(
      (yield* digests).map(({ digest, positions, revision }) => [digest, positions, revision]),
      [[hour!.digest, 2, 1]]
    )
    yield* tracking.track("ops", at(999.5 * HOUR))
    yield* TestClock.adjust(601_000)
    yield* tracking.round
    assert.deepStrictEqual(
      (yield* digests).map(({ positions, revision }) => [positions, revision]),
      [
        [2, 1],
        [3, 2]
      ]
    )
    assert.deepStrictEqual(yield* findingsWith((record) => record), [])
    const lies = [
      { from_ms: 999 * HOUR + 1 },
      { from_ms: 1_000 * HOUR },
      { positions: 2 },
      { revision: 3 },
      { writer: "policy:monitor" }
    ]
    for (const lie of lies) {
      const found = yield* findingsWith((record) =>
        record.kind === "positions.recorded" && record.body["revision"] === 2
          ? { ...record, body: { ...record.body, ...lie } }
          : record
      )
      assert.lengthOf(found, 1, JSON.stringify(lie))
    }
    yield* TestClock.adjust(30 * 24 * HOUR)
    yield* tracking.round
    assert.deepStrictEqual((yield* history.pipe(Effect.orElseSucceed(() => ({ hours: [] })))).hours, [])
  }).pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/tracking", capabilities: [platform()] }).pipe(
        Layer.provideMerge(layerOf(memoryStorage())),
        Layer.provide(keysLayerOf(ephemeralKeys()))
      ) as Layer.Layer<GovernorServices | Storage | Tracking>
    ),
    Effect.provide(TestClock.layer()),
    Effect.runPromise
  ))
