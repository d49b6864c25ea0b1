import { assert, describe, it } from "vitest"
import { History } from "./history.ts"

describe("the history of an entity", () => {
  it("has the state that the newest record up to the given one made", () => {
    const history = new History<string>()
    history.add("a", 3, "draft")
    history.add("b", 4, "other")
    history.add("a", 7, "live")
    history.add("a", 9, "withdrawn")
    assert.deepStrictEqual(
      [2, 3, 6, 7, 8, 9, 1_000].map((seq) => history.at("a", seq)),
      [null, "draft", "draft", "live", "live", "withdrawn", "withdrawn"]
    )
    assert.strictEqual(history.at("b", 8), "other")
    assert.isNull(history.at("c", 8))
  })

  it("has one state of a record that changes it twice, the last", () => {
    const history = new History<string>()
    history.add("a", 3, "first")
    history.add("a", 5, "half")
    history.add("a", 5, "whole")
    assert.deepStrictEqual(
      [4, 5].map((seq) => history.at("a", seq)),
      ["first", "whole"]
    )
  })

  it("does not know what was before the newest 1,000 states, and never says that there was nothing", () => {
    const history = new History<number>()
    for (let seq = 1; seq <= 1_000; seq++) history.add("a", seq, seq)
    // A record that changes it once more makes no state more.
    history.add("a", 1_000, 0)
    assert.deepStrictEqual(
      [0, 1, 2].map((seq) => history.at("a", seq)),
      [null, 1, 2]
    )
    history.add("a", 1_001, 1_001)
    assert.deepStrictEqual(
      [0, 1, 2, 1_001].map((seq) => history.at("a", seq)),
      [undefined, undefined, 2, 1_001]
    )
    // Another entity is not cut with it.
    history.add("b", 1_002, 5)
    assert.isNull(history.at("b", 0))
  })

  it("takes states that are falsy for states", () => {
    const history = new History<boolean>()
    history.add("a", 1, false)
    assert.isFalse(history.at("a", 1))
  })
})
