import { assert, describe, it } from "vitest"
import { compile } from "./compile.ts"
import type { Envelope } from "../language/envelope.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { tierFloorTable, withTierFloor } from "../language/tier-floor.ts"
import { effectClasses } from "../language/envelope.ts"
import { outcomes } from "../language/compiled.ts"

const read = (members: object): Envelope => {
  const { envelope, findings } = readEnvelope({
    semantics: "envelope/1",
    effects: { "*": "read" },
    signals: {},
    rules: [],
    default: { outcome: "deny" },
    ...members
  })
  assert.deepEqual(findings, [])
  return envelope!
}
const codes = (...layers: ReadonlyArray<object>): ReadonlyArray<string> =>
  compile(layers.map(read)).findings.map((finding) => `${finding.code} ${finding.path}`)
const int = { type: "int", min: 0, max: 9, source: "caller" }

describe("compiling", () => {
  it("makes one box of a conjunction, and touching integers one interval", () => {
    const { combination } = compile([
      read({
        signals: { a: int, b: int },
        rules: [
          {
            id: "r",
            outcome: "deny",
            when: [
              { signal: "b", in: [3, 5, 4] },
              { signal: "a", gt: 2 },
              { signal: "a", lt: 4 }
            ]
          }
        ]
      })
    ])
    assert.deepEqual(combination?.compiled.rules[0]?.boxes, [
      [
        { axis: 0, kind: "interval", from: 3, to: 3 },
        { axis: 1, kind: "interval", from: 3, to: 5 }
      ]
    ])
  })

  it("drops boxes that lie in others, ranges that say nothing, and rules' boxes that are empty", () => {
    const boxes = (when: ReadonlyArray<object>): unknown =>
      compile([read({ signals: { a: int }, rules: [{ id: "r", outcome: "deny", when }] })]).combination?.compiled
        .rules[0]?.boxes
    assert.deepEqual(
      boxes([
        {
          any: [
            { signal: "a", gte: 3 },
            { signal: "a", gte: 5 },
            { signal: "a", gte: 3 }
          ]
        }
      ]),
      [[{ axis: 0, kind: "interval", from: 3, to: 9 }]]
    )
    assert.deepEqual(boxes([{ signal: "a", gte: 0 }]), [[]])
    assert.deepEqual(boxes([{ signal: "a", gt: 9 }]), [])
  })

  it("stops at once where a rule would take very many boxes", () => {
    const signals = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`s${i}`, int]))
    const when = Object.keys(signals).map((signal) => ({
      any: [
        { signal, eq: 1 },
        { signal, eq: 5 },
        { signal, eq: 7 }
      ]
    }))
    assert.deepEqual(codes({ signals, rules: [{ id: "r", outcome: "deny", when }] }), ["E114 /rules/0"])
  })
})

describe("layers", () => {
  it("that declare a signal otherwise than in values and bounds do not fit", () => {
    assert.deepEqual(codes({ signals: { a: int } }, { signals: { a: { ...int, max: 5 } } }), [])
    for (const other of [
      { type: "bool", source: "caller" },
      { ...int, source: "server" },
      { ...int, unit: "ms" }
    ])
      assert.deepEqual(codes({ signals: { a: int } }, { signals: { a: other } }), ["E105 /signals/a"])
    const level = (values: ReadonlyArray<string>, ordered: boolean) => ({
      signals: { level: { type: "enum", values, source: "caller", ordered } }
    })
    assert.deepEqual(codes(level(["a", "b"], false), level(["b"], false)), [])
    assert.deepEqual(codes(level(["a", "b"], true), level(["b", "a"], true)), ["E105 /signals/level"])
    assert.deepEqual(codes(level(["a", "b"], true), level(["a", "b"], false)), ["E105 /signals/level"])
    for (const values of [
      ["a\0b", "c"],
      ["a,b", "c"],
      ["a", "b"]
    ])
      assert.deepEqual(codes(level(values, true), level(["a", "b", "c"], true)), ["E105 /signals/level"])
  })

  it("may share a meter, not its name for two", () => {
    const meter = { op: "count", window_ms: 5, key: ["agent_id"] }
    assert.deepEqual(codes({ meters: { m: meter } }, { meters: { m: meter } }), [])
    assert.deepEqual(codes({ meters: { m: meter } }, { meters: { m: { ...meter, window_ms: 6 } } }), ["E103 /meters/m"])
    assert.deepEqual(
      codes({ signals: { a: int }, derived: { d: { fn: "sum@1", args: ["a", "a"] } } }, { signals: { d: int } }),
      ["E103 /derived/d"]
    )
  })

  it("take the inner layer's bounds, but a meter and a ratio are what those who declare them say", () => {
    const outer = {
      signals: { a: int },
      meters: { m: { op: "sum", of: "a", window_ms: 5, key: ["agent_id"], max_count: 100 } }
    }
    const { combination } = compile([read(outer), read({ signals: { a: { ...int, max: 50 } } })])
    assert.deepEqual([combination?.signals[0]?.max, combination?.meters[0]?.max], [50, 900])
    assert.deepEqual(codes(outer, { ...outer, signals: { a: { ...int, max: 50 } } }), ["E105 /meters/m"])
    assert.deepEqual(codes(outer, { signals: { a: { ...int, min: -1 } } }), ["E105 /meters/m"])
    const ratio = { signals: { a: int, b: int }, derived: { r: { fn: "ratio_bp@1", args: ["a", "b"] } } }
    assert.equal(
      compile([read(ratio), read({ signals: { a: { ...int, max: 1 } } })]).combination?.derived[0]?.max,
      90_000
    )
    assert.deepEqual(codes(ratio, { ...ratio, signals: { a: { ...int, max: 1 }, b: int } }), ["E105 /derived/r"])
  })

  it("require a signal that one of them requires, and else agree on what its absence means", () => {
    const one = (absence: object) => ({ signals: { a: { ...int, ...absence } } })
    const absences = [{}, { optional: true }, { on_missing: 0 }, { on_missing: 9 }]
    for (const [i, outer] of absences.entries())
      for (const [j, inner] of absences.entries()) {
        const { combination, findings } = compile([read(one(outer)), read(one(inner))])
        assert.deepEqual(
          findings.map(({ code, path }) => `${code} ${path}`),
          i === 0 || j === 0 || i === j ? [] : ["E105 /signals/a"]
        )
        if (i === 0 || j === 0) assert.deepInclude(combination?.signals[0], { optional: false, onMissing: null })
      }
  })
})

describe("the tier floor", () => {
  it("never rises from one tier to the next, nor falls from one class to a graver one", () => {
    const grades = effectClasses.map((effect) => tierFloorTable[effect].map((outcome) => outcomes.indexOf(outcome)))
    grades.forEach((row, i) =>
      row.forEach((grade, tier) => {
        if (tier > 0) assert.isAtMost(grade, row[tier - 1]!)
        if (i > 0) assert.isAtLeast(grade, grades[i - 1]![tier]!)
      })
    )
  })

  it("takes a tool without a class, and one that is absent, for irreversible", () => {
    const { envelope } = readEnvelope({
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["a"], source: "caller", optional: true } },
      rules: [],
      default: { outcome: "deny" }
    })
    const { combination } = compile(withTierFloor([envelope!]))
    assert.deepEqual(
      combination?.compiled.rules.map((rule) => rule.id),
      [
        "@tier_floor:irreversible:deny",
        "@tier_floor:irreversible:require_review",
        "@tier_floor:irreversible:allow_with_notice"
      ]
    )
    assert.deepEqual(combination?.compiled.rules[0]?.boxes, [[{ axis: 0, kind: "interval", from: 0, to: 1 }]])
    assert.deepEqual(combination?.compiled.otherwise, [null, "deny"])
  })

  it("has rules for an absent tool only where the layers together let it be absent", () => {
    const tool = (absence: object) =>
      read({
        signals: { tool: { type: "enum", values: ["a"], source: "caller", ...absence } },
        effects: { a: "money" }
      })
    const floor = (...layers: ReadonlyArray<Envelope>) =>
      compile(withTierFloor(layers)).combination!.compiled.rules.map(({ id }) => id.split(":")[1])
    const money = ["money", "money", "money"]
    for (const layers of [
      [tool({}), tool({ optional: true })],
      [tool({ optional: true }), tool({})],
      [tool({ on_missing: "a" })]
    ])
      assert.deepEqual(floor(...layers), money)
    assert.deepEqual(floor(tool({ optional: true }), tool({ optional: true })), [
      ...money,
      "irreversible",
      "irreversible",
      "irreversible"
    ])
  })
})
