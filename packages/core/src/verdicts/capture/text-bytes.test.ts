import { utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { TextBytes } from "../content/part-bytes.ts"

describe("the bytes of many texts", () => {
  it("are those of each, whatever is encoded after it", () => {
    const texts = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("", "x".repeat(1_365), "x".repeat(1_366), "ä".repeat(4_999), "€".repeat(5_000), "y".repeat(5_001))
    )
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 40 }), (all) => {
        const bytes = new TextBytes()
        assert.deepStrictEqual(
          all.map((text) => bytes.of(text)).map((one) => one.slice()),
          all.map(utf8)
        )
      }),
      { seed: 20_261_126 }
    )
  })
})
