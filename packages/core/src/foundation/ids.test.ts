import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Entropy } from "./entropy.ts"
import { newId } from "./ids.ts"

describe("new ids", () => {
  it.effect("are a prefix, 48 bits of time and 80 random bits", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(2 ** 32 + 5)
      assert.strictEqual(yield* newId("agt"), "agt_0004000005zzzzzzzzzzzzzzzz")
      yield* TestClock.setTime(2 ** 48 - 1)
      assert.strictEqual(yield* newId("usr"), "usr_7zzzzzzzzzzzzzzzzzzzzzzzzz")
    }).pipe(Effect.provideService(Entropy, { bytes: (n) => new Uint8Array(n).fill(255) }))
  )

  it.effect("sort by time and do not repeat", () =>
    Effect.gen(function* () {
      const ids = []
      for (let ms = 0; ms < 200; ms++) {
        yield* TestClock.setTime(ms * 1_000_003)
        ids.push(yield* newId("agt"))
      }
      assert.deepStrictEqual(ids.toSorted(), ids)
      assert.strictEqual(new Set(yield* Effect.all(Array.from({ length: 1000 }, () => newId("agt")))).size, 1000)
    })
  )
})
