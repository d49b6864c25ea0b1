/** A body that the survey clears for `JSON.parse` reads as the exact reader reads it. See docs/what-is-fast.md. */
import { fromUtf8, readJson, utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { expect, it } from "vitest"
import { ExactReader } from "../../../packages/evidence/src/json/exact.ts"
import { inOneGo } from "../../../packages/evidence/src/slices.ts"
import { runs } from "../runs.ts"

const keepRaw = (path: ReadonlyArray<string | number>): boolean => path.at(-1) === "args"
const exact = (text: string) => inOneGo(new ExactReader(text, 64, keepRaw).read())

/** Pieces that `JSON.parse` loses something of, and their neighbours that it does not. */
const piece = fc.constantFrom(
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "1e308",
  "1e309",
  "-1E400",
  "1.7976931348623159e308",
  "12345678901234567890.5",
  `${"9".repeat(201)}`,
  "-0",
  "01",
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\ude00\\ud83d"',
  '"\\\\ud800"',
  '"\\uD83D\\u0041"',
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '{"__proto__":1}',
  '{"args":{"b":1,"b":2}}',
  "[".repeat(63) + "]".repeat(63),
  "[".repeat(65) + "]".repeat(65),
  '"{[,:"',
  "{}"
)
const value = fc.oneof(
  { weight: 2, arbitrary: piece },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)) }
)
const text = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "args", "c"), value), {
      maxLength: 4,
      size: "max",
      selector: ([name]) => name
    }),
    fc.boolean(),
    fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'"\\{}[],:0e. u9d'))),
    fc.constantFrom("", " ", "\n")
  )
  .map(([members, isList, change, space]) => {
    const inner = members.map(([name, one]) => (isList ? one : `"${name}"${space}:${one}`)).join(`,${space}`)
    const whole = isList ? `[${inner}]` : `{${inner}}`
    if (change === null) return whole
    const at = change[0] % whole.length
    return whole.slice(0, at) + change[1] + whole.slice(at + 1)
  })
  .filter((one) => one.isWellFormed())

it("a text is parsed alike with and without the survey", () => {
  let accepted = 0
  fc.assert(
    fc.property(text, (one) => {
      const bytes = utf8(one)
      const found = readJson(bytes, { keepRaw })
      expect(found).toEqual(exact(fromUtf8(bytes)!))
      if (found.ok) accepted++
    }),
    { numRuns: runs(5_000, 50_000), seed: 20_261_124 }
  )
  expect(accepted).toBeGreaterThan(1_000)
})
