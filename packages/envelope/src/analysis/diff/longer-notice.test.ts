import { assert, describe, it } from "vitest"
import { longerNotice } from "./longer-notice.ts"
import { compiled, given } from "../testing/given-envelope.ts"

const notice = (id: string, notice_ms: number | null, ...when: ReadonlyArray<object>) => ({
  id,
  outcome: "allow_with_notice",
  when,
  ...(notice_ms === null ? {} : { notice_ms })
})
const other = (id: string, outcome: string, ...when: ReadonlyArray<object>) => ({ id, outcome, when })
const upTo = (most: number) => ({ signal: "amount", lte: most })
const from = (least: number) => ({ signal: "amount", gte: least })
const between = (
  before: ReadonlyArray<object>,
  after: ReadonlyArray<object>,
  searchBudget?: number
): ReadonlyArray<string> =>
  longerNotice(compiled(given(before)), compiled(given(after)), searchBudget === undefined ? {} : { searchBudget })

describe("a longer notice", () => {
  it("is found where it begins, with an example, and not where nobody waits longer", () => {
    const split = [notice("a", 1_000, upTo(500)), notice("b", 9_000, from(501))]
    assert.deepEqual(between(split, [notice("b", 9_000, from(501)), notice("a", 1_000, upTo(500))]), [])
    assert.match(
      between(split, [notice("a", 1_000, upTo(499)), notice("b", 9_000, from(500))]).join(),
      /^A notice may take more than 1000 ms where it took 1000 ms at most, for example amount 500, /
    )
    assert.deepEqual(between(split, [notice("a", 1_000, upTo(501)), notice("b", 9_000, from(502))]), [])
    assert.deepEqual(between(split, [notice("a", 1_000, upTo(1_000)), notice("b", 9_000, from(501))]), [])
  })

  it("takes a minute where no rule says a time, and what rules say where one does", () => {
    assert.lengthOf(between([notice("a", null)], [notice("a", 60_001)]), 1)
    assert.lengthOf(between([notice("a", 59_999)], [notice("a", null)]), 1)
    assert.deepEqual(between([notice("a", null)], [notice("a", 60_000)]), [])
    assert.deepEqual(between([notice("a", 60_000)], [notice("a", null)]), [])
    assert.lengthOf(between([notice("a", null)], [notice("a", null), notice("b", 60_001)]), 1)
    assert.deepEqual(between([notice("a", null), notice("b", 60_001)], [notice("a", null)]), [])
    assert.deepEqual(between([notice("a", null), notice("b", 90_000)], [notice("a", null), notice("b", 90_000)]), [])
    assert.lengthOf(between([notice("a", null), notice("b", 90_000)], [notice("a", null), notice("b", 90_001)]), 1)
  })

  it("is none of what comes out otherwise in either version", () => {
    const [short, long] = [notice("a", 1_000), notice("a", 9_000)]
    assert.lengthOf(between([short], [long]), 1)
    for (const outcome of ["require_review", "deny", "halt"]) {
      assert.deepEqual(between([short, other("x", outcome)], [long]), [])
      assert.deepEqual(between([short], [long, other("x", outcome)]), [])
      assert.lengthOf(between([short, other("x", outcome, upTo(999))], [long, other("x", outcome, upTo(999))]), 1)
    }
    assert.deepEqual(between([other("a", "allow")], [long]), [])
    assert.deepEqual(
      between(
        [other("all", "allow"), notice("a", 1_000, upTo(5))],
        [other("all", "allow"), notice("a", 9_000, from(6))]
      ),
      []
    )
  })

  it("counts the layers around it, and those that are silent", () => {
    const outer = (...rules: ReadonlyArray<object>) => given(rules)
    const both = (around: ReturnType<typeof outer>, ms: number) => compiled(around, given([notice("a", ms)]))
    const holding = outer(notice("unit", 500))
    assert.deepEqual(longerNotice(both(holding, 1_000), both(holding, 9_000)), [])
    const usual = outer(notice("unit", null))
    assert.lengthOf(longerNotice(both(usual, 1_000), both(usual, 9_000)), 1)
    // Where the outer layer is silent its default denies.
    const silent = outer(other("unit", "allow", upTo(100)), notice("soon", 500, upTo(100)))
    assert.deepEqual(longerNotice(both(silent, 1_000), both(silent, 9_000)), [])
    assert.deepEqual(longerNotice(null, both(usual, 9_000)), [])
  })

  it("is said to be open where the budget is spent", () => {
    assert.match(
      between(
        [notice("a", 1_000), other("x", "deny", from(7), { signal: "known", is: true })],
        [notice("a", 9_000)],
        0
      ).join(),
      /^Whether a notice may take longer than before was not decided/
    )
  })
})
