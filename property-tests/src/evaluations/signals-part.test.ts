/** Signals read from their bytes equal what `JSON.parse` makes of the same bytes, if those have an RFC 8785 form. */
import { canonicalBytes, fromUtf8, utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { expect, it } from "vitest"
import { signalsOf } from "../../../packages/rules/src/evaluations/signals-part.ts"
import { runs } from "../runs.ts"

/** The expected value: null without an RFC 8785 form, or with a duplicate name. */
const byJson = (bytes: Uint8Array): unknown => {
  try {
    const text = fromUtf8(bytes)!
    const value: unknown = JSON.parse(text)
    canonicalBytes(value, 64)
    const colons = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1
    return colons === namesIn(value) ? value : null
  } catch {
    return null
  }
}

const namesIn = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : Object.values(value).reduce(
        (all: number, one) => all + namesIn(one),
        Array.isArray(value) ? 0 : Object.keys(value).length
      )

it("signals are read as JSON.parse reads them", () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer())
  )
  const written = fc.oneof(
    fc.dictionary(fc.string(), value).map((one) => canonicalBytes(one)),
    fc.dictionary(fc.string(), value).map((one) => utf8(JSON.stringify(one))),
    fc
      .tuple(
        fc.dictionary(fc.string({ unit: fc.constantFrom("a", "b") }), fc.oneof(fc.integer(), fc.boolean())),
        fc.nat(),
        fc.nat(255)
      )
      .map(([one, place, byte]) => {
        const bytes = canonicalBytes(one).slice()
        bytes[place % bytes.length] = byte
        return bytes
      })
  )
  fc.assert(
    fc.property(written, (bytes) => {
      expect(signalsOf(bytes)).toEqual(byJson(bytes))
    }),
    { numRuns: runs(500, 3_000), seed: 20_261_122 }
  )
})
