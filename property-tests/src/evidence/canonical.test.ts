/** The canonical writer and the byte-level form checker against a naive reference. */
import { canonicalize, checkForm, readJson, utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { naiveCanonical } from "./naive.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_121

const wellFormed = fc.string({ unit: "binary", maxLength: 12 }).filter((text) => text.isWellFormed())
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    wellFormed,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(wellFormed, tie("value"), { maxKeys: 6 })
  )
})).value
const recordJson = fc
  .letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      wellFormed,
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(wellFormed, tie("value"), { maxKeys: 6 })
    )
  }))
  .value.map((value) => ({ value }))

describe("canonical JSON", () => {
  it("writes the same bytes as the reference", () =>
    fc.assert(
      fc.property(anyJson, (value) => assert.equal(canonicalize(value), naiveCanonical(value))),
      { seed: SEED, numRuns: 2_000 }
    ))

  it("is a fixed point: reading the canonical text and writing it again changes nothing", () =>
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalize(value)
        const read = readJson(utf8(text))
        assert.isTrue(read.ok)
        if (read.ok) assert.equal(canonicalize(read.value), text)
      }),
      { seed: SEED, numRuns: 1_000 }
    ))

  it("accepts every record value that it wrote", () =>
    fc.assert(
      fc.property(recordJson, (value) => assert.isNull(checkForm(utf8(canonicalize(value))))),
      { seed: SEED, numRuns: 2_000 }
    ))

  it("accepts exactly the canonical bytes after any one-byte change, as the reference does", () =>
    fc.assert(
      fc.property(recordJson, fc.nat(), fc.nat(255), (value, at, byte) => {
        const bytes = utf8(canonicalize(value))
        bytes[at % bytes.length] = byte
        let expected = false
        try {
          const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
          const parsed: unknown = JSON.parse(text)
          expected =
            text.isWellFormed() &&
            naiveCanonical(parsed) === text &&
            integersOnly(parsed) &&
            wellFormedThroughout(parsed)
        } catch {
          expected = false
        }
        assert.equal(checkForm(bytes) === null, expected, Buffer.from(bytes).toString("latin1"))
      }),
      { seed: SEED, numRuns: runs(4_000, 20_000) }
    ))
})

const integersOnly = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isSafeInteger(value) && !Object.is(value, -0)
    : typeof value !== "object" || value === null || Object.values(value).every(integersOnly)

const wellFormedThroughout = (value: unknown): boolean =>
  typeof value === "string"
    ? value.isWellFormed()
    : typeof value !== "object" ||
      value === null ||
      Object.entries(value).every(([name, member]) => name.isWellFormed() && wellFormedThroughout(member))
