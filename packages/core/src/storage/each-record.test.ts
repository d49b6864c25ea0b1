import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eachRecord, RECORDS_A_TURN } from "./each-record.ts"
import { StorageCorrupt } from "./faults.ts"
import { layerOf } from "./choice.ts"
import { memoryStorage } from "./memory/memory.ts"
import { Storage } from "./port.ts"

const COUNT = 1_000

/** A store with so many records; `chain.genesis` is the first. */
const filled = Effect.gen(function* () {
  const storage = yield* Storage
  for (let seq = 0; seq < COUNT; seq += 250)
    yield* storage.commit({
      records: Array.from({ length: 250 }, (_, index) => ({
        kind: seq + index === 0 ? "chain.genesis" : "capture.gap",
        body: {},
        parts: [],
        agentId: index % 2 === 0 ? "agt_a" : null
      })),
      ...(seq === 0 ? { expectEmpty: true } : {})
    })
  return storage
})

/** Counts the turns of the event loop until it is stopped. */
const turnCounter = () => {
  let turns = 0
  let immediate = setImmediate(function next() {
    turns++
    immediate = setImmediate(next)
  })
  return () => {
    clearImmediate(immediate)
    return turns
  }
}

describe("a stretch of records", () => {
  it.live("is handed on whole and in order, whatever the length of a page", () =>
    Effect.gen(function* () {
      const storage = yield* filled
      for (const limit of [1, 7, 500, 1_000]) {
        const seen: Array<number> = []
        yield* eachRecord(storage, { from: 3, to: 996, agentId: "agt_a" }, ({ seq }) => void seen.push(seq), limit)
        assert.deepStrictEqual(
          seen,
          Array.from({ length: COUNT }, (_, seq) => seq).filter(
            (seq) => seq >= 3 && seq <= 996 && (seq % 250) % 2 === 0
          )
        )
      }
    }).pipe(Effect.provide(layerOf(memoryStorage())))
  )

  it.live("lets the event loop turn after each slice", () =>
    Effect.gen(function* () {
      const storage = yield* filled
      const turns = turnCounter()
      yield* eachRecord(storage, { from: 0, to: COUNT - 1 }, () => undefined, 1_000)
      assert.isAtLeast(turns(), Math.floor(COUNT / RECORDS_A_TURN))
    }).pipe(Effect.provide(layerOf(memoryStorage())))
  )

  it.live("ends at the record whose work fails", () =>
    Effect.gen(function* () {
      const storage = yield* filled
      let last = -1
      const failed = yield* Effect.flip(
        eachRecord(storage, { from: 0, to: COUNT - 1 }, ({ seq }) => {
          last = seq
          return seq === 70 ? Effect.fail(new StorageCorrupt({ reason: "record 70" })) : undefined
        })
      )
      assert.deepStrictEqual([failed._tag, last], ["StorageCorrupt", 70])
    }).pipe(Effect.provide(layerOf(memoryStorage())))
  )
})
