import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { readEnvelope } from "../language/read-envelope.ts"
import { type Combination, compile } from "../compile/compile.ts"
import { prepare } from "./decide.ts"
import { explain } from "./explain.ts"
import { cellsOf } from "./explain-cells.ts"

const combined = (signals: object, rules: ReadonlyArray<object>): Combination => {
  const read = readEnvelope({
    semantics: "envelope/1",
    name: "Cells",
    signals,
    effects: { a: "read" },
    rules,
    default: { outcome: "deny" }
  })
  assert.deepEqual(read.findings, [])
  const made = compile([read.envelope!])
  assert.deepEqual(made.findings, [])
  return made.combination!
}

describe("the cells of an axis", () => {
  const values = ["a", "b", "c", "d", "e", "f"]
  const interval = fc
    .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 }))
    .map(([a, b]) => ({ signal: "n", between: [Math.min(a, b), Math.max(a, b)] }))
  const some = fc.subarray(values, { minLength: 1 }).map((members) => ({ signal: "letter", in: members }))

  it("are those on which some condition is otherwise than now, whatever the conditions", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(interval, some), { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        fc.nat(40),
        fc.nat(5),
        (tests, isOptional, number, letter) => {
          const optional = isOptional ? { optional: true } : {}
          const signals = {
            tool: { type: "enum", values: ["a"], source: "caller" },
            n: { type: "int", min: 0, max: 40, source: "caller", ...optional },
            letter: { type: "enum", values, source: "caller", ...optional }
          }
          const made = combined(
            signals,
            tests.map((test, i) => ({ id: `r${i}`, outcome: "allow", when: [test] }))
          )
          made.compiled.axes.forEach((axis, index) => {
            if (axis.name === "tool") return
            const at = axis.name === "n" ? number : letter
            const admitted = (value: number) =>
              tests.map((test) =>
                "between" in test
                  ? axis.name === "n" && value >= test.between[0]! && value <= test.between[1]!
                  : axis.name === "letter" && test.in.includes(values[value]!)
              )
            const cells = cellsOf(made, index, at)
            const reported = new Set(
              cells.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
            )
            for (let value = axis.mayBeAbsent ? axis.min - 1 : axis.min; value <= axis.max; value++) {
              assert.equal(
                reported.has(value),
                admitted(value).join() !== admitted(at).join(),
                `${axis.name} = ${value}`
              )
            }
          })
        }
      ),
      { seed: 20261122, numRuns: 500 }
    )
  })
})

describe("an explanation of many boxes", () => {
  it("tries a million boxes at most, and says how far it came", () => {
    const signals = {
      tool: { type: "enum", values: ["a"], source: "caller" },
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, i) => [`n${i}`, { type: "int", min: 0, max: 100_000, source: "caller" }])
      )
    }
    const either = (i: number, r: number) => ({
      any: [
        { signal: `n${i}`, lte: 50_000 + r },
        { signal: `n${i + 1}`, lte: 50_000 + r }
      ]
    })
    const made = combined(
      signals,
      Array.from({ length: 400 }, (_, r) => ({
        id: `r${r}`,
        outcome: "allow",
        when: [0, 2, 4, 6, 8, 10].map((i) => either(i, r))
      }))
    )
    assert.equal(
      made.compiled.rules.reduce((sum, { boxes }) => sum + boxes.length, 0),
      25_600
    )
    const ready = prepare(made)
    const far = Float64Array.from(made.compiled.axes, ({ name }) => (name === "tool" ? 0 : 100_000))
    assert.deepEqual(explain(made, ready.table, far), { found: null, reason: "partial", within: 1 })
  })

  it("says of what it found before the budget ended what it says of anything", () => {
    const signals = {
      tool: { type: "enum", values: ["a"], source: "caller" },
      first: { type: "int", min: 0, max: 9, source: "caller" },
      n: { type: "int", min: 0, max: 100_000, source: "caller" }
    }
    const fine = (id: string, to: number) => ({
      id,
      outcome: "allow",
      when: [
        { signal: "first", between: [5, to] },
        { signal: "n", eq: 100_000 }
      ]
    })
    const denied = (r: number) => ({
      id: `r${r}`,
      outcome: "deny",
      when: [{ any: [0, 1, 2, 3].map((i) => ({ signal: "n", eq: 20 * (4 * r + i) })) }]
    })
    const made = combined(signals, [
      fine("some", 6),
      fine("all", 9),
      ...Array.from({ length: 490 }, (_, r) => denied(r))
    ])
    const ready = prepare(made)
    const point = Float64Array.from(made.compiled.axes, ({ name }) => (name === "n" ? 100_000 : 0))
    const found = explain(made, ready.table, point)
    assert.deepEqual(found.found?.changes, [{ axis: "first", origin: "caller", from: 5, to: 9 }])
  })
})

describe("a stretch that is widened", () => {
  const signals = {
    tool: { type: "enum", values: ["a"], source: "caller" },
    n: { type: "int", min: 0, max: 100_000, source: "caller" }
  }
  const spaced = (rules: number): Combination =>
    combined(signals, [
      { id: "from_one", outcome: "allow", when: [{ signal: "n", gte: 1 }] },
      ...Array.from({ length: rules }, (_, r) => ({
        id: `r${r}`,
        outcome: "allow",
        when: [{ any: Array.from({ length: 64 }, (_, i) => ({ signal: "n", eq: 2 * (64 * r + i) + 2 })) }]
      }))
    ])
  const widest = (made: Combination): unknown =>
    explain(made, prepare(made).table, new Float64Array(made.compiled.axes.length)).found?.changes[0]?.to

  it("takes in all its neighbours of one verdict", () => {
    assert.equal(widest(spaced(5)), 100_000)
  })

  it("takes in no more of them than may be tried", () => {
    const made = spaced(100)
    const boxes = made.compiled.rules.reduce((sum, rule) => sum + rule.boxes.length, 0)
    assert.equal(boxes, 6_401)
    // From the one that was found, cells of one point each.
    assert.equal(widest(made), 1 + Math.floor(1_000_000 / boxes))
  })
})
