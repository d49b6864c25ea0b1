import { assert, describe, it } from "@effect/vitest"
import { Entropy } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { seededEntropy, seededSource } from "./seeded-entropy.ts"

describe("seeded entropy", () => {
  it("returns the same bytes for the same seed, in reads of any size", () => {
    const whole = toHex(seededSource(7).bytes(200))
    for (const sizes of [[200], [32, 32, 136], [1, 0, 31, 33, 65, 70]]) {
      const source = seededSource(7)
      assert.strictEqual(sizes.map((size) => toHex(source.bytes(size))).join(""), whole)
    }
    assert.notStrictEqual(toHex(seededSource(8).bytes(200)), whole)
    assert.notStrictEqual(toHex(seededSource("a").bytes(32)), toHex(seededSource("b").bytes(32)))
  })

  it.effect("restarts each time the layer is provided", () =>
    Effect.gen(function* () {
      const draw = Effect.map(Entropy, (entropy) => toHex(entropy.bytes(8)))
      const first = yield* Effect.provide(draw, seededEntropy(1))
      assert.strictEqual(yield* Effect.provide(draw, seededEntropy(1)), first)
      assert.notStrictEqual(yield* draw, first)
    })
  )
})
