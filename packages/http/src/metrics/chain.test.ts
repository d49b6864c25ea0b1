import { layerOf, memoryStorage, Storage, type StorageApi } from "@flyball/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "@effect/vitest"
import { chainFamilies } from "./chain.ts"

const NOW_MS = 1_000_000
const hash = new Uint8Array(32)

/**
 * Measures the chain over a store with these members replaced; the record of each seq is `seq` seconds old at a
 * thousand seconds.
 */
const measured = (change: Partial<StorageApi>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW_MS)
    const storage = { ...(yield* Storage), ...change }
    const reading = yield* Effect.forkChild(Effect.provideService(chainFamilies, Storage, storage))
    yield* TestClock.adjust("2 seconds")
    return Object.fromEntries(
      (yield* Fiber.join(reading)).map(({ name, samples: [sample] }) => [
        name.replace("flyball_", ""),
        sample !== undefined && "value" in sample ? sample.value : null
      ])
    )
  }).pipe(Effect.provide(layerOf(memoryStorage())))

const chain = (records: number, signed: number): Partial<StorageApi> => ({
  head: Effect.succeed(records === 0 ? null : { seq: records - 1, hash, atMs: NOW_MS }),
  get: () =>
    Effect.succeed(
      signed === 0
        ? null
        : { collection: "checkpoints", id: "latest", version: 1, body: { size: signed, root: "", note: "" } }
    ),
  record: (seq) =>
    Effect.succeed({ seq, bytes: hash, hash, kind: "decision.made", agentId: null, atMs: NOW_MS - seq * 1_000 })
})

describe("measurements of the chain", () => {
  it.effect("count what no checkpoint covers, and how long the oldest of it waits", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* measured(chain(10, 7)), {
        store_up: 1,
        chain_size_records: 10,
        chain_unsigned_records: 3,
        chain_unsigned_age_seconds: 7,
        chain_checkpoint_age_seconds: 6,
        chain_ahead_seconds: 0
      })
      assert.deepStrictEqual(yield* measured(chain(7, 7)), {
        store_up: 1,
        chain_size_records: 7,
        chain_unsigned_records: 0,
        chain_unsigned_age_seconds: 0,
        chain_checkpoint_age_seconds: 6,
        chain_ahead_seconds: 0
      })
      assert.deepStrictEqual(yield* measured(chain(2, 0)), {
        store_up: 1,
        chain_size_records: 2,
        chain_unsigned_records: 2,
        chain_unsigned_age_seconds: 0,
        chain_checkpoint_age_seconds: null,
        chain_ahead_seconds: 0
      })
    })
  )

  it.effect("say how far the newest record lies ahead of a clock that went back", () =>
    Effect.gen(function* () {
      const { chain_ahead_seconds } = yield* measured({
        ...chain(10, 7),
        head: Effect.succeed({ seq: 9, hash, atMs: NOW_MS + 86_400_000 })
      })
      assert.strictEqual(chain_ahead_seconds, 86_400)
    })
  )

  it.effect("report no negative age after the clock was set back", () =>
    Effect.gen(function* () {
      const { chain_unsigned_age_seconds } = yield* measured({
        ...chain(10, 7),
        record: (seq) =>
          Effect.succeed({ seq, bytes: hash, hash, kind: "decision.made", agentId: null, atMs: NOW_MS + 60_000 })
      })
      assert.strictEqual(chain_unsigned_age_seconds, 0)
    })
  )

  it.effect("do not wait for a store that does not answer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* measured({ ...chain(10, 7), head: Effect.never }), {
        store_up: 0,
        chain_size_records: null,
        chain_unsigned_records: null,
        chain_unsigned_age_seconds: null,
        chain_checkpoint_age_seconds: null,
        chain_ahead_seconds: null
      })
    })
  )
})
