import { assert, describe, it } from "vitest"
import { History } from "./past-states.ts"

describe("the history of an entity", () => {
  it("returns the state as of a given record", () => {
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

  it("keeps the last state of a record that changes it twice", () => {
    const history = new History<string>()
    history.add("a", 3, "first")
    history.add("a", 5, "half")
    history.add("a", 5, "whole")
    assert.deepStrictEqual(
      [4, 5].map((seq) => history.at("a", seq)),
      ["first", "whole"]
    )
  })

  it("reports states older than the newest 1,000 as unknown, not as absent", () => {
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

  it("accepts falsy states", () => {
    const history = new History<boolean>()
    history.add("a", 1, false)
    assert.isFalse(history.at("a", 1))
  })
})
