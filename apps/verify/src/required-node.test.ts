import { assert, describe, it } from "vitest"
import { requireNode } from "./required-node.ts"

describe("requireNode", () => {
  it("accepts 20.19 and everything newer", () => {
    for (const version of ["20.19.0", "20.20.2", "22.0.0", "24.21.0", "100.0.0"]) assert.isNull(requireNode(version))
  })

  it("names the version that it refuses", () => {
    for (const version of ["20.18.3", "18.20.8", "9.0.0", ""])
      assert.match(requireNode(version) ?? "", /^Node\.js 20\.19 or newer is needed, and this is /)
    assert.include(requireNode("20.18.3"), "20.18.3")
  })
})
