import { assert, describe, it } from "vitest"
import { MAX_SUM, WindowSum } from "./window-sum.ts"

const great = [0, 1, 2, 2 ** 31, 2 ** 52 - 1, 2 ** 52, 2 ** 52 + 1, 2 ** 53 - 2, 2 ** 53 - 1]

describe("the sum of a window", () => {
  it("is exact through adding, taking away and replacing, and reported as 2^53 - 1 above that", () => {
    const sum = new WindowSum()
    const held: Array<number> = []
    // A linear congruence: the same course every time.
    let state = 20_261_122
    const below = (most: number): number => (
      (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0),
      Math.floor((state / 2 ** 32) * most)
    )
    let isPast = 0
    for (let step = 0; step < 20_000; step++) {
      const amount = great[below(great.length)]!
      const act = held.length > 20 ? 9 : below(10)
      const place = below(held.length)
      if (held.length === 0 || act < 4) {
        held.push(amount)
        sum.add(amount)
      } else if (act < 6) {
        sum.replace(held[place]!, amount)
        held[place] = amount
      } else sum.remove(held.splice(place, 1)[0]!)
      const exact = held.reduce((all, one) => all + BigInt(one), 0n)
      if (exact > MAX_SUM) isPast++
      assert.strictEqual(sum.value, exact > MAX_SUM ? MAX_SUM : Number(exact))
      assert.strictEqual(sum.count, held.length)
    }
    assert.isAbove(isPast, 1_000)
    assert.isAbove(20_000 - isPast, 1_000)
  })
})
