import { assert, describe, it } from "vitest"
import { FairLine } from "./fair-line.ts"

const shift = (line: FairLine<string>): string => {
  const item = line.first()!
  line.take(item)
  return item
}

const drained = (line: FairLine<string>): ReadonlyArray<string> => {
  const order: Array<string> = []
  while (line.size > 0) order.push(shift(line))
  return order
}

describe("FairLine", () => {
  it("keeps the order of one key, and gives keys turns", () => {
    const line = new FairLine<string>()
    for (const item of ["a1", "a2", "a3"]) line.add(item, "a", 1)
    line.add("b1", "b", 1)
    assert.deepStrictEqual(drained(line), ["a1", "b1", "a2", "a3"])
  })

  it("lets a light item of another key pass what is heavy", () => {
    const line = new FairLine<string>()
    for (const key of ["a", "b", "c"]) for (const nth of [1, 2]) line.add(`${key}${nth}`, key, 1_000)
    assert.strictEqual(shift(line), "a1")
    line.add("light", "d", 1)
    assert.deepStrictEqual(drained(line), ["light", "b1", "c1", "a2", "b2", "c2"])
  })

  it("starves no key: a heavy item goes when the light ones of others have had as much", () => {
    const line = new FairLine<string>()
    line.add("heavy", "a", 100)
    const order: Array<string> = []
    for (let nth = 0; nth < 200 && !order.includes("heavy"); nth++) {
      line.add(`light${nth}`, "b", 1)
      line.add(`more${nth}`, "c", 1)
      order.push(shift(line))
    }
    assert.include(order, "heavy")
  })

  it("puts what lost its turn before all others, in the order in which it came back", () => {
    const line = new FairLine<string>()
    line.add("a1", "a", 1)
    line.add("lost1", "b", 1, true)
    line.add("lost2", "a", 1, true)
    assert.deepStrictEqual(drained(line), ["lost1", "lost2", "a1"])
  })

  it("forgets what was served once it is empty", () => {
    const line = new FairLine<string>()
    line.add("a1", "a", 1_000)
    shift(line)
    line.add("a2", "a", 10)
    line.add("b1", "b", 20)
    assert.strictEqual(line.remove("a2"), true)
    assert.strictEqual(line.remove("a2"), false)
    assert.deepStrictEqual(drained(line), ["b1"])
  })
})
