/**
 * Positions over hours and days of the clock: what is recorded, revised, verified, altered and deleted. And many at
 * once on SQLite and on Postgres, whose clock is its own.
 */
import {
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  memoryStorage,
  type StorageChoice
} from "@flyball/core"
import { layerOf, Storage } from "@flyball/core/storage"
import { canonicalBytes, utf8 } from "@flyball/evidence"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { afterAll, assert, beforeAll, it } from "vitest"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { putTrack, storedAs, type TrackDocument, TRACKS } from "../../../packages/platform/src/tracking/document.ts"
import { Tracking } from "../../../packages/platform/src/tracking/service.ts"

const database = givenDatabase({ beforeAll, afterAll })
const servicesOn = (storage: StorageChoice) =>
  governorLayer({ origin: "flyball.example/tracking", capabilities: [platform()] }).pipe(
    Layer.provideMerge(layerOf(storage)),
    Layer.provide(keysLayerOf(ephemeralKeys()))
  ) as Layer.Layer<GovernorServices | Storage | Tracking>

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
  }).pipe(Effect.provide(servicesOn(memoryStorage())), Effect.provide(TestClock.layer()), Effect.runPromise))

it.each([
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url })]
])("keeps all positions of calls that come at once, on %s, and one event of each fence", (_, storage) =>
  Effect.gen(function* () {
    const [tracking, store] = [yield* Tracking, yield* Storage]
    const circle = { latitude: 52, longitude: 13, radius_m: 1_000 }
    const fence = yield* tracking.createFence("ops", { name: "f", circle, dwell_s: 0 })
    const { ms: nowMs } = yield* store.asOf
    const at = (s: number, latitude: number) => ({
      vehicle_id: "v",
      at: new Date(nowMs - 7_200_000 + 1_000 * s).toISOString(),
      latitude,
      longitude: 13
    })
    const calls = Array.from({ length: 8 }, (__, call) => [0, 1, 2].map((s) => at(call + 8 * s, 52)))
    const taken = yield* Effect.forEach([...calls, ...calls], (each) => tracking.track("ops", each), { concurrency: 8 })
    const sum = (of: (one: (typeof taken)[number]) => number) => taken.reduce((all, one) => all + of(one), 0)
    assert.deepStrictEqual([sum(({ accepted }) => accepted), sum(({ repeated }) => repeated)], [24, 24])
    yield* tracking.track("ops", [at(60, 53)])
    const span = { from: at(0, 0).at, to: at(60, 0).at }
    const { hours, positions } = yield* tracking.history("ops", "v", span)
    assert.deepStrictEqual(
      positions.map((one) => one.at),
      [...Array.from({ length: 24 }, (__, s) => at(s, 0).at), span.to]
    )
    assert.strictEqual(
      hours.reduce((all, one) => all + one.positions, 0),
      25
    )
    const events = (yield* store.outbox.events({ limit: 100 })).filter(({ type }) => type.startsWith("fleet."))
    assert.deepStrictEqual(events.map(({ type }) => type).sort(), ["fleet.geofence_entered", "fleet.geofence_left"])
    assert.deepStrictEqual((yield* tracking.vehicle("ops", "v")).geofences, [])
    const tracks = (yield* store.list(TRACKS)).map(storedAs<TrackDocument>)
    yield* store.commit({ puts: tracks.map((one) => putTrack({ ...one, body: { ...one.body, dueMs: 1 } })) })
    yield* Effect.all([tracking.round, tracking.round], { concurrency: 2 })
    const digests = (yield* recorded).filter(({ kind }) => kind === "positions.recorded")
    assert.lengthOf(digests, hours.length)
    assert.deepStrictEqual(yield* findingsWith((record) => record), [])
    yield* tracking.erase("ops", "v")
    assert.deepStrictEqual(yield* store.list(TRACKS), [])
    yield* tracking.deleteFence("ops", fence.id)
  }).pipe(Effect.provide(servicesOn(storage())), Effect.runPromise)
)
