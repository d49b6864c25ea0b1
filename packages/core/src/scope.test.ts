import { assert, describe, it } from "vitest"
import { covers, everyUnit } from "./scope.ts"

describe("scope", () => {
  it("covers its own org unit only", () => {
    assert.isTrue(covers({ orgUnit: "ops" }, "ops"))
    assert.isFalse(covers({ orgUnit: "ops" }, "sales"))
    assert.isFalse(covers({ orgUnit: "ops" }, "Ops"))
  })

  it("covers everything where it is every unit, also what has lost its own", () => {
    assert.isTrue(covers(everyUnit, "ops"))
    assert.isTrue(covers(everyUnit, null))
    assert.isFalse(covers({ orgUnit: "ops" }, null))
  })
})
