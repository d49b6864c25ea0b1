import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { documentPages, everyDocument } from "./document-pages.ts"
import { StorageUnavailable } from "./faults.ts"
import type { Document, StorageApi } from "./port.ts"

/** A collection of so many documents, which notes where each requested page begins. */
const collection = (count: number, failsAfter = Number.POSITIVE_INFINITY) => {
  const requested: Array<string | undefined> = []
  const documents = Array.from({ length: count }, (_, index): Document => ({
    collection: "agents",
    id: String(index).padStart(5, "0"),
    version: 1,
    body: {}
  }))
  const list: StorageApi["list"] = (_, { after, limit } = {}) =>
    Effect.suspend(() => {
      if (requested.push(after) > failsAfter)
        return Effect.fail(new StorageUnavailable({ reason: "gone", wrote: "no" }))
      return Effect.succeed(documents.filter(({ id }) => after === undefined || id > after).slice(0, limit))
    })
  return { requested, storage: { list } as StorageApi }
}
const ids = (page: ReadonlyArray<Document>) => Effect.succeed(page.map(({ id }) => id))

describe("a collection in pages", () => {
  it.effect("is read to its end, without gap or overlap", () =>
    Effect.gen(function* () {
      for (const [count, pages] of [
        [0, 1],
        [1, 1],
        [499, 1],
        [500, 2],
        [501, 2],
        [1_000, 3]
      ] as const) {
        const { requested, storage } = collection(count)
        const found = yield* everyDocument(storage, "agents", ids)
        assert.deepStrictEqual(
          found,
          Array.from({ length: count }, (_, index) => String(index).padStart(5, "0"))
        )
        assert.strictEqual(requested.length, pages)
      }
    })
  )

  it.effect("is read again at each run", () =>
    Effect.gen(function* () {
      const { requested, storage } = collection(3)
      const list = everyDocument(storage, "agents", ids)
      assert.deepStrictEqual(yield* list, yield* list)
      assert.deepStrictEqual(requested, [undefined, undefined])
    })
  )

  it.effect("is read no further than it is wanted", () =>
    Effect.gen(function* () {
      const { requested, storage } = collection(10)
      const first = yield* Stream.runHead(documentPages(storage, "agents", 2))
      assert.deepInclude(first, { _tag: "Some" })
      assert.deepStrictEqual(requested, [undefined])
    })
  )

  it.effect("fails where a page cannot be read", () =>
    Effect.gen(function* () {
      const { storage } = collection(1_000, 1)
      assert.instanceOf(yield* Effect.flip(everyDocument(storage, "agents", ids)), StorageUnavailable)
    })
  )
})
