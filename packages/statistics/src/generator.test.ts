import { assert, describe, it } from "vitest"
import { generator } from "./generator.ts"

const seedOf = (...words: ReadonlyArray<number>): Uint8Array => {
  const bytes = new Uint8Array(words.length * 4)
  words.forEach((word, at) => new DataView(bytes.buffer).setUint32(at * 4, word, true))
  return bytes
}

describe("the generator", () => {
  // The reference implementation xoshiro128starstar.c from the state 1, 2, 3, 4, as the crate rand_xoshiro tests it.
  it("gives the published numbers", () => {
    const { next } = generator(seedOf(1, 2, 3, 4))
    assert.deepStrictEqual(
      Array.from({ length: 10 }, next),
      [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804]
    )
  })

  it("takes the first 16 bytes only, wherever they lie", () => {
    const bytes = seedOf(9, 9, 1, 2, 3, 4, 5)
    assert.strictEqual(generator(bytes.subarray(8)).next(), generator(seedOf(1, 2, 3, 4)).next())
  })

  it("refuses a seed that is short or empty of bits", () => {
    assert.throws(() => generator(seedOf(1, 2, 3)), RangeError)
    assert.throws(() => generator(seedOf(0, 0, 0, 0)), RangeError)
  })

  it("draws every number below a bound, and no other", () => {
    const { below } = generator(seedOf(1, 2, 3, 4))
    const seen = Array.from({ length: 6_000 }, () => below(6))
    for (let n = 0; n < 6; n++) assert.closeTo(seen.filter((one) => one === n).length, 1_000, 120)
    assert.strictEqual(below(1), 0)
  })

  it("shuffles into each order as often", () => {
    const { shuffle } = generator(seedOf(1, 2, 3, 4))
    const orders = new Map<string, number>()
    for (let n = 0; n < 6_000; n++) {
      const items = Uint32Array.of(1, 2, 3)
      shuffle(items)
      orders.set(items.join(""), (orders.get(items.join("")) ?? 0) + 1)
    }
    assert.strictEqual(orders.size, 6)
    for (const times of orders.values()) assert.closeTo(times, 1_000, 120)
  })
})
