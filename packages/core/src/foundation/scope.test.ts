import { assert, describe, it } from "vitest"
import { covers, coversAll, everyUnit, unitScope } from "./scope.ts"

describe("scope", () => {
  it("covers its own org unit only", () => {
    assert.isTrue(covers(unitScope("ops"), "ops"))
    assert.isFalse(covers(unitScope("ops"), "sales"))
    assert.isFalse(covers(unitScope("ops"), "Ops"))
  })

  it("of several units covers each, and what they cover together", () => {
    const both = { orgUnits: ["ops", "sales"] }
    assert.deepStrictEqual(
      [covers(both, "ops"), covers(both, "sales"), covers(both, "legal"), covers({ orgUnits: [] }, "ops")],
      [true, true, false, false]
    )
    assert.deepStrictEqual(
      [
        coversAll(both, unitScope("sales")),
        coversAll(unitScope("sales"), both),
        coversAll(both, everyUnit),
        coversAll(everyUnit, both)
      ],
      [true, false, false, true]
    )
  })

  it("covers everything where it is every unit, also what has lost its own", () => {
    assert.isTrue(covers(everyUnit, "ops"))
    assert.isTrue(covers(everyUnit, null))
    assert.isFalse(covers(unitScope("ops"), null))
  })
})
