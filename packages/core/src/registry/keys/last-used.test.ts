import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { layerOf } from "../../storage/choice.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { lastUses, USE_RESOLUTION_MS } from "./last-used.ts"

const inMemory = Effect.provide(layerOf(memoryStorage()))

describe("the last use of a key", () => {
  it.effect("costs a busy key no read within a minute", () =>
    Effect.gen(function* () {
      const real = yield* Storage
      let reads = 0
      const counting: StorageApi = {
        ...real,
        get: (collection, id) =>
          Effect.suspend(() => {
            reads += 1
            return real.get(collection, id)
          })
      }
      const uses = lastUses(counting, "ingest_key_uses")
      for (let ms = 0; ms < USE_RESOLUTION_MS; ms += 1_000) yield* uses.note("key_1", ms) ?? Effect.void
      assert.strictEqual(reads, 1)
      yield* uses.note("key_2", 1) ?? Effect.void
      assert.strictEqual(reads, 2)
    }).pipe(inMemory)
  )

  it.effect("is not written again where another process just did", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* lastUses(storage, "ingest_key_uses").note("key_1", 1_000)!
      yield* lastUses(storage, "ingest_key_uses").note("key_1", 2_000)!
      assert.strictEqual((yield* storage.get("ingest_key_uses", "key_1"))?.version, 1)
      assert.strictEqual(yield* lastUses(storage, "ingest_key_uses").read("key_1"), 1_000)
    }).pipe(inMemory)
  )

  it.effect("never makes an authentication fail", () =>
    Effect.gen(function* () {
      const down = new StorageUnavailable({ reason: "the disk is full", wrote: "no" })
      yield* lastUses({ ...(yield* Storage), commit: () => Effect.fail(down) }, "ingest_key_uses").note("key_1", 0)!
    }).pipe(inMemory)
  )
})
