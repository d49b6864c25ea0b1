/** Cases on counters. */
import assert from "node:assert/strict"
import type { StorageApi } from "@flyball/core/storage"
import { Effect, Exit } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, dies, idempotentDraft, put, refused } from "./given.ts"

const adders = 30

/** Counters of a ChangeSet. */
export const counterCases = [
  storageCase(
    "counters begin at 0, add, return, and are read in the order of the question",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({
        counts: [
          { name: "a", add: 5 },
          { name: "A", add: 2 ** 40 }
        ]
      })
      yield* storage.commit({
        counts: [
          { name: "a", add: -7 },
          { name: "\u{1f600}", add: 0 }
        ]
      })
      assert.deepEqual(yield* storage.counters(["A", "none", "a", "\u{1f600}", "A"]), [2 ** 40, 0, -2, 0, 2 ** 40])
      assert.deepEqual(yield* storage.counters([]), [])
    })
  ),
  storageCase(
    "an addition is refused above its limit, and one that returns never",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ counts: [{ name: "a", add: 10, atMost: 10 }] })
      const change = { puts: [put("t1")], counts: [{ name: "a", add: 1, atMost: 10 }] }
      assert.deepEqual(yield* refused(storage, change), [{ _tag: "Count", name: "a", value: 10, atMost: 10 }])
      assert.equal(yield* storage.get("things", "t1"), null)
      yield* storage.commit({ counts: [{ name: "a", add: -1, atMost: 2 }] })
      yield* storage.commit(change)
      assert.deepEqual(yield* storage.counters(["a"]), [10])
    })
  ),
  storageCase(
    `of ${adders} additions at once exactly those that fit are admitted`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      const exits = yield* Effect.all(
        Array.from({ length: adders }, (_, n) =>
          Effect.exit(storage.commit({ puts: [put(`t${n}`)], counts: [{ name: "a", add: 3, atMost: 32 }] }))
        ),
        { concurrency: "unbounded" }
      )
      assert.equal(exits.filter(Exit.isSuccess).length, 10)
      assert.deepEqual(yield* storage.counters(["a"]), [30])
      assert.equal((yield* storage.list("things")).length, 10)
    })
  ),
  storageCase(
    "a repeat adds nothing, and is no conflict",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const change = { records: [idempotentDraft("k1", "a")], counts: [{ name: "a", add: 2, atMost: 3 }] }
      yield* storage.commit(change)
      assert.equal((yield* storage.commit(change)).records[0]?.duplicate, true)
      assert.deepEqual(yield* storage.counters(["a"]), [2])
    })
  ),
  storageCase(
    "a counter that is named twice, or adds no whole number, is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const one = { name: "a", add: 1 }
      yield* dies(storage.commit({ counts: [one, one] }), "a counter twice")
      yield* dies(storage.commit({ counts: [{ name: "a", add: 0.5 }] }), "half a unit")
      yield* dies(storage.commit({ counts: [{ ...one, atMost: Number.NaN }] }), "a limit that is no number")
      yield* dies(storage.commit({ counts: [{ name: "", add: 1 }] }), "no name")
      yield* dies(storage.counters(Array.from({ length: 1001 }, () => "a")), "more names than one read takes")
    })
  )
]
