import { assert, describe, it } from "@effect/vitest"
import { layerOf, memoryStorage, Storage, StorageConflict } from "@flyball/core/storage"
import type { StorageApi } from "@flyball/core/storage"
import { Clock, Effect, Exit, Layer } from "effect"
import { storageCases } from "./storage-cases.ts"

/** Memory, with one thing wrong. */
const broken = (breakIt: (storage: StorageApi) => Partial<StorageApi>): Layer.Layer<Storage, unknown> =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => Storage.of({ ...storage, ...breakIt(storage) }))
  ).pipe(Layer.provide(layerOf(memoryStorage())))

/** Stores with a fault, and the case that must find it. */
const faults: ReadonlyArray<{
  readonly what: string
  readonly foundBy: string
  readonly breakIt: (storage: StorageApi) => Partial<StorageApi>
}> = [
  {
    what: "a list in JavaScript's order",
    foundBy: "ids differ by case and by normal form, and list in order of their bytes",
    breakIt: ({ list }) => ({
      list: (collection, page) =>
        Effect.map(list(collection, page), (all) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    })
  },
  {
    what: "only the first conflict",
    foundBy: "conflicts of every kind are collected, in order",
    breakIt: ({ commit }) => ({
      commit: (change) =>
        Effect.mapError(commit(change), (error) =>
          error._tag === "StorageConflict" ? new StorageConflict({ conflicts: error.conflicts.slice(0, 1) }) : error
        )
    })
  },
  {
    what: "documents that are written before a conflict is seen",
    foundBy: "a refused commit leaves no trace (IdempotencyKey, 4 of 11)",
    breakIt: ({ commit }) => ({
      commit: ({ puts = [], ...change }) => Effect.andThen(commit({ puts }), commit(change))
    })
  },
  {
    what: "commits that are in time whenever they come",
    foundBy: "a commit with sealBeforeMs is sealed before that time, or refused once it has come",
    breakIt: ({ commit }) => ({ commit: ({ sealBeforeMs: _, ...change }) => commit(change) })
  },
  {
    what: "a lease for everybody",
    foundBy: "a lease is one holder's until it has run out",
    breakIt: () => ({ lease: () => Effect.succeed(true) })
  },
  {
    what: "erased parts that disappear",
    foundBy: "erasing takes bytes and salt, names its record, and leaves everything else",
    breakIt: ({ parts }) => ({
      parts: (seqs) => Effect.map(parts(seqs), (all) => all.filter(({ erasedBy }) => erasedBy === null))
    })
  },
  {
    what: "a node above 255 records",
    foundBy: "level 1 has a node for each 256 records that are complete",
    breakIt: ({ hashes }) => ({
      hashes: (level, from, count) =>
        Effect.map(hashes(level, from, count), (found) =>
          level === 1 && found.length === 0 ? new Uint8Array(32) : found
        )
    })
  },
  {
    what: "a clock that is allowed to go back",
    foundBy: "asOf is the store's time and last seq, and never before the head",
    breakIt: ({ asOf }) => ({
      asOf: Effect.flatMap(Clock.currentTimeMillis, (ms) => Effect.map(asOf, ({ seq }) => ({ ms, seq })))
    })
  }
]

describe("the storage cases", () => {
  it("have unique names", () => {
    assert.strictEqual(new Set(storageCases.map(({ name }) => name)).size, storageCases.length)
  })

  for (const { what, foundBy, breakIt } of faults) {
    it.effect(`find a store with ${what}`, () =>
      Effect.gen(function* () {
        const found = storageCases.find(({ name }) => name === foundBy)
        assert.isDefined(found)
        assert.isTrue(
          Exit.isSuccess(
            yield* Effect.exit(
              Effect.provide(
                found.run,
                broken(() => ({}))
              )
            )
          ),
          "the case should pass on the store as it is"
        )
        assert.isTrue(
          Exit.isFailure(yield* Effect.exit(Effect.provide(found.run, broken(breakIt)))),
          "the case should fail"
        )
      })
    )
  }
})
