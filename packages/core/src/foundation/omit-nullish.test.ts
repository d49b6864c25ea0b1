import { assert, describe, it } from "vitest"
import { omitNullish } from "./omit-nullish.ts"

describe("leaving out what is absent", () => {
  it("keeps everything but null and undefined, in order", () => {
    assert.strictEqual(
      JSON.stringify(omitNullish({ b: 0, a: null, c: "", d: undefined, e: false, f: [] })),
      '{"b":0,"c":"","e":false,"f":[]}'
    )
  })
})
