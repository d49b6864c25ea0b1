import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerOf } from "./choice.ts"
import { CommitFeed } from "./commit-feed.ts"
import { memoryStorage } from "./memory/memory.ts"
import { Storage } from "./port.ts"

const put = (id: string, expectedVersion: number | null) => ({
  puts: [{ collection: "notes", id, expectedVersion, body: {} }]
})

describe("the commit feed", () => {
  it.effect("publishes what was committed, before its caller goes on, and no commit that was refused", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const published: Array<unknown> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* (yield* CommitFeed).subscribe((change) => void published.push(change))
          yield* storage.commit(put("one", 0))
          assert.deepStrictEqual(published, [put("one", 0)])
          yield* Effect.flip(storage.commit(put("one", 7)))
        })
      )
      yield* storage.commit(put("behind the subscription", 0))
      assert.lengthOf(published, 1)
    }).pipe(Effect.provide(CommitFeed.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
  )

  it.effect("commits and publishes again where a commit is run again", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      let published = 0
      yield* (yield* CommitFeed).subscribe(() => void published++)
      const commit = storage.commit(put("one", null))
      yield* Effect.andThen(commit, commit)
      assert.deepStrictEqual([published, (yield* storage.get("notes", "one"))?.version], [2, 2])
    }).pipe(Effect.scoped, Effect.provide(CommitFeed.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
  )
})
