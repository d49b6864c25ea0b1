import { assert, describe, it } from "vitest"
import { generator } from "./generator.ts"
import { logShareWager, Wager } from "./martingale.ts"

const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 5))

describe("a wager", () => {
  it("is worth no more than it was, on average over the p-values of a permutation test", () => {
    for (const ranks of [1, 2, 7, 500]) {
      let total = 0
      for (let rank = 1; rank <= ranks; rank++) {
        const one = new Wager()
        one.take(0.3)
        const before = one.value
        one.take(rank / ranks)
        total += one.value / before
      }
      assert.isAtMost(total / ranks, 1)
    }
  })

  it("reaches 20 in at most one of 20 streams without a change", () => {
    let reached = 0
    for (let stream = 0; stream < 2_000; stream++) {
      const one = new Wager()
      for (let at = 0; at < 100; at++) {
        one.take((1 + random.below(500)) / 500)
        if (one.value < 20) continue
        reached++
        break
      }
    }
    assert.isAtMost(reached, 100)
  })

  it("reaches it by some p-values of 1 in 500, also after a long time in which there was nothing to win", () => {
    for (const before of [0, 30]) {
      const one = new Wager()
      for (let at = 0; at < before; at++) one.take(0.7)
      for (let at = 0; at < 4; at++) one.take(0.002)
      assert.isAbove(one.value, 20)
    }
  })
})

describe("a wager on a share", () => {
  it.each([0.01, 0.2, 0.5, 0.9])("is worth 1 on average where the chance is the limit, %s", (limit) => {
    let mean = 0
    let ways = 1
    for (let count = 0; count <= 8; count++) {
      mean += ways * limit ** count * (1 - limit) ** (8 - count) * Math.exp(logShareWager(count, 8, limit))
      ways = (ways * (8 - count)) / (count + 1)
    }
    assert.closeTo(mean, 1, 1e-9)
  })

  it("grows with what counts beyond the limit, and falls with what does not", () => {
    assert.isAbove(logShareWager(30, 100, 0.1), Math.log(1_000))
    assert.isBelow(logShareWager(5, 100, 0.1), 0)
    assert.closeTo(logShareWager(0, 0, 0.1), 0, 1e-12)
  })
})
