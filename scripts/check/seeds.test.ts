/** The check of seeds finds a random property without one, and no other. */
import { assert, describe, it } from "vitest"
import { unseededRuns } from "./seeds.ts"

const found = (text: string): ReadonlyArray<string> =>
  unseededRuns([{ path: "a.test.ts", text: `import fc from "fast-check"\n${text}` }])

describe("the check of seeds", () => {
  it("finds runs without options, with other options, and with named options that hold no seed", () => {
    assert.lengthOf(found("fc.assert(fc.property(fc.nat(), (n) => n >= 0))"), 1)
    assert.lengthOf(found("fc.check(\n  fc.property(fc.nat(), (n) => n >= 0),\n  { numRuns: 5 }\n)"), 1)
    assert.lengthOf(found("const few = { numRuns: 5 }\nfc.assert(fc.property(fc.nat(), check), few)"), 1)
  })

  it("reports the line of the run", () => {
    assert.match(found("\nfc.assert(fc.property(fc.nat(), check))")[0]!, /^a\.test\.ts:3 /)
  })

  it("accepts a seed in the call and in the options that it names", () => {
    assert.isEmpty(found("fc.assert(fc.property(fc.nat(), check), { seed: 7 })"))
    assert.isEmpty(found("const few = { numRuns: 5, seed: 7 }\nfc.assert(fc.property(fc.nat(), check), few)"))
    assert.isEmpty(found("const times = (n: number) => ({ n, seed: 7 })\nfc.assert(fc.property(check), times(5))"))
  })

  it("ignores checks that are not fast-check's", () => {
    assert.isEmpty(unseededRuns([{ path: "a.ts", text: "fc.check(storable)" }]))
  })
})
