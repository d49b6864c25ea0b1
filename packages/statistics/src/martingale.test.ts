import { assert, describe, it } from "vitest"
import { generator } from "./generator.ts"
import { conformalP, SimpleJumper } from "./martingale.ts"

describe("the conformal p-value", () => {
  it("counts larger scores, and a share of equal ones", () => {
    assert.strictEqual(conformalP([3, 1, 2, 2], 0.5), (1 + 0.5 * 2) / 4)
    assert.strictEqual(conformalP([7], 0.25), 0.25)
    assert.strictEqual(conformalP([1, 2, 3], 0), 0)
  })
})

describe("the simple jumper", () => {
  const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 5))
  const uniform = (): number => random.next() / 2 ** 32

  it("keeps its value on average, whatever came before", () => {
    const values = [0.1, 0.9, 0.3].map((p) => {
      const one = new SimpleJumper()
      one.take(0.02)
      const before = one.value
      one.take(p)
      const lower = one.value
      const other = new SimpleJumper()
      other.take(0.02)
      other.take(1 - p)
      return [before, (lower + other.value) / 2] as const
    })
    for (const [before, after] of values) assert.closeTo(after, before, 1e-12)
  })

  it("reaches 20 in at most one of 20 streams without a change", () => {
    let reached = 0
    for (let stream = 0; stream < 1_000; stream++) {
      const one = new SimpleJumper()
      for (let at = 0; at < 300; at++) {
        one.take(uniform())
        if (one.value < 20) continue
        reached++
        break
      }
    }
    assert.isAtMost(reached, 50)
  })

  it("grows where p-values become small, or large", () => {
    for (const end of [0.05, 0.95]) {
      const one = new SimpleJumper()
      for (let at = 0; at < 30; at++) one.take(end)
      assert.isAbove(one.value, 20)
    }
  })
})
