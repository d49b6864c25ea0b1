import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { metricsNow, ownMetrics } from "../foundation/metrics.ts"
import { layerOf } from "./choice.ts"
import { countedStorage } from "./counted-storage.ts"
import { StorageCorrupt, StorageUnavailable } from "./faults.ts"
import { memoryStorage } from "./memory/memory.ts"
import { Storage, type StorageApi } from "./port.ts"

/** The store, with commits replaced by `commit` where given. */
const counted = (commit?: StorageApi["commit"]) =>
  countedStorage.pipe(
    Layer.provide(
      Layer.effect(
        Storage,
        Effect.map(Storage, (storage) => Storage.of(commit === undefined ? storage : { ...storage, commit }))
      ).pipe(Layer.provide(layerOf(memoryStorage())))
    ),
    Layer.provideMerge(ownMetrics)
  )

const samplesOf = (name: string) =>
  Effect.map(metricsNow, (families) => families.find((one) => one.name === name)!.samples)
const outcomes = Effect.map(samplesOf("flyball_commits_total"), (samples) =>
  samples.flatMap((sample) =>
    "value" in sample && sample.value > 0 ? [[sample.labels["outcome"], sample.value] as const] : []
  )
)
const durations = Effect.map(samplesOf("flyball_commit_duration_seconds"), (samples) =>
  samples.flatMap((sample) =>
    "count" in sample && sample.count > 0 ? [[sample.labels["outcome"], sample.count, sample.sum] as const] : []
  )
)
const put = { puts: [{ collection: "settings", id: "a", expectedVersion: 0, body: {} }] }

describe("a counted store", () => {
  it.effect("counts what was committed, and what met a conflict", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.commit(put)
      yield* Effect.flip(storage.commit(put))
      assert.deepStrictEqual(yield* outcomes, [
        ["committed", 1],
        ["conflict", 1]
      ])
    }).pipe(Effect.provide(counted()))
  )

  for (const [outcome, end] of [
    ["unavailable", Effect.fail(new StorageUnavailable({ reason: "away", wrote: "no" }))],
    ["corrupt", Effect.fail(new StorageCorrupt({ reason: "torn" }))],
    ["interrupted", Effect.interrupt],
    ["failed", Effect.die("bug")]
  ] as const) {
    it.effect(`counts a commit that ends as ${outcome}`, () =>
      Effect.gen(function* () {
        yield* Effect.exit((yield* Storage).commit({}))
        assert.deepStrictEqual(yield* outcomes, [[outcome, 1]])
        assert.deepStrictEqual(yield* durations, [[outcome, 1, 0]])
      }).pipe(Effect.provide(counted(() => end)))
    )
  }

  it.effect("counts new records, and measures how long the commit took", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const fiber = yield* Effect.forkChild(storage.commit({}), { startImmediately: true })
      yield* TestClock.adjust("30 millis")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* durations, [["committed", 1, 0.03]])
      assert.deepStrictEqual(yield* samplesOf("flyball_records_sealed_total"), [{ labels: {}, value: 2 }])
    }).pipe(
      Effect.provide(
        counted(() => {
          const at = { seq: 0, hash: new Uint8Array(32), atMs: 0 }
          const records = [false, true, false].map((duplicate) => ({ ...at, duplicate }))
          return Effect.as(Effect.sleep("30 millis"), { records, head: at })
        })
      )
    )
  )
})
