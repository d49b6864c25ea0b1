import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ancestorsOf, MAX_ANCESTORS, parentProblem } from "./ancestry.ts"

/** A line of agents from `a0` on, of which the parent is the one before. */
const line = (agents: number) =>
  new Map(Array.from({ length: agents }, (_, n) => [`a${n}`, n === 0 ? undefined : `a${n - 1}`] as const))
const parentOf = (parents: ReadonlyMap<string, string | undefined>) => (id: string) => parents.get(id)

describe("ancestors", () => {
  it("are the parent and its ancestors, nearest first", () => {
    const of = parentOf(line(4))
    assert.deepStrictEqual(ancestorsOf("a3", of), ["a2", "a1", "a0"])
    assert.deepStrictEqual(ancestorsOf("a0", of), [])
    assert.deepStrictEqual(ancestorsOf("unknown", of), [])
    assert.deepStrictEqual(
      ancestorsOf("a1", () => null),
      []
    )
  })

  it("stop at the given limit", () => {
    const of = parentOf(line(20))
    assert.deepStrictEqual(ancestorsOf("a19", of).length, MAX_ANCESTORS)
    assert.deepStrictEqual(ancestorsOf("a19", of, 2), ["a18", "a17"])
    assert.deepStrictEqual(ancestorsOf("a19", of, 0), [])
  })

  it("stop before a cycle, and never include the agent itself", () => {
    const of = parentOf(
      new Map([
        ["self", "self"],
        ["x", "y"],
        ["y", "x"],
        ["z", "x"]
      ])
    )
    assert.deepStrictEqual(ancestorsOf("self", of), [])
    assert.deepStrictEqual(ancestorsOf("x", of), ["y"])
    assert.deepStrictEqual(ancestorsOf("z", of), ["x", "y"])
  })

  it("equal those found by following parents one by one, in any forest", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 12 }), fc.nat(12), fc.nat(12), (parents, start, max) => {
        const of = (id: string) => {
          const parent = parents[Number(id)]
          return parent === undefined ? undefined : String(parent)
        }
        const naive: Array<string> = []
        for (let id = of(String(start)); id !== undefined && naive.length < max; id = of(id)) {
          if (id === String(start) || naive.includes(id)) break
          naive.push(id)
        }
        assert.deepStrictEqual(ancestorsOf(String(start), of, max), naive)
      }),
      { seed: 20_261_126 }
    )
  })
})

describe("a parent", () => {
  const known: ReadonlyMap<string, object> = new Map(
    [...line(12)].map(([id, parentAgentId]) => [id, { parentAgentId, orgUnitDigest: id === "a0" ? "other" : "ops" }])
  )
  const problem = (parentId: string, id = "new", orgUnitDigest: string | undefined = "ops") =>
    parentProblem({ id, parentId, orgUnitDigest }, (one) => known.get(one))

  it("must be a known agent of the same org unit", () => {
    assert.isNull(problem("a1"))
    assert.strictEqual(problem("a0"), "not_of_the_unit")
    assert.strictEqual(problem("unknown"), "not_of_the_unit")
    assert.strictEqual(
      parentProblem({ id: "new", parentId: "a1", orgUnitDigest: undefined }, () => ({})),
      "not_of_the_unit"
    )
  })

  it("is never the agent itself, even when the agent is known", () => {
    assert.strictEqual(problem("a2", "a2"), "not_of_the_unit")
  })

  it("is refused when the agent would have more than eight ancestors", () => {
    assert.isNull(problem("a7"))
    assert.strictEqual(problem("a8"), "too_deep")
    assert.strictEqual(problem("a11"), "too_deep")
  })
})
