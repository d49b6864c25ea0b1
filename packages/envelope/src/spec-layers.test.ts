/**
 * Sections 9 and 10 of `SPEC.md`, written down a second time from its text alone, without boxes and without a grid:
 * both must say the same.
 */
import { assert, describe, it } from "vitest"
import { compile } from "./compile/compile.ts"
import { decide, prepare } from "./decide/decide.ts"
import { readEnvelope } from "./language/read-envelope.ts"
import { withTierFloor } from "./language/tier-floor.ts"

const severity = ["allow", "allow_with_notice", "require_review", "deny", "halt"]
const gravest = (outcomes: ReadonlyArray<string>): string =>
  severity[Math.max(...outcomes.map((one) => severity.indexOf(one)))]!
const table: { readonly [name: string]: ReadonlyArray<string> } = {
  read: ["allow", "allow", "allow", "allow", "allow"],
  write_reversible: ["deny", "require_review", "allow_with_notice", "allow", "allow"],
  external_message: ["deny", "require_review", "require_review", "allow_with_notice", "allow"],
  money: ["deny", "require_review", "require_review", "allow_with_notice", "allow_with_notice"],
  irreversible: ["deny", "deny", "require_review", "require_review", "allow_with_notice"]
}
const classes = Object.keys(table)

const outcomeOf = (
  layers: ReadonlyArray<unknown>,
  signals: { readonly [name: string]: unknown },
  tier: number
): string => {
  const read = layers.map((layer) => {
    const { envelope, findings } = readEnvelope(layer)
    assert.isNotNull(envelope, JSON.stringify(findings))
    return envelope!
  })
  const { combination, findings } = compile(withTierFloor(read))
  assert.isNotNull(combination, JSON.stringify(findings))
  return decide(
    prepare(combination!),
    { signals, runId: null },
    {
      kill: "none",
      agent: { id: "agt_1", orgUnit: "ops", isActive: true },
      server: { tier },
      latches: new Set(),
      windows: () => ({ value: 0, count: 0 }),
      approved: false
    }
  ).outcome
}
const layer = (more: { readonly [member: string]: unknown }) => ({
  semantics: "envelope/1",
  default: { outcome: "deny" },
  ...more
})
const open = [{ id: "open", outcome: "allow", when: [] }]

describe("section 9: constants that the innermost layer does not have", () => {
  const holds: { readonly [op: string]: (value: number, constant: number) => boolean } = {
    eq: (a, b) => a === b,
    lt: (a, b) => a < b,
    lte: (a, b) => a <= b,
    gt: (a, b) => a > b,
    gte: (a, b) => a >= b
  }
  const int = (max: number, rules: unknown) =>
    layer({ signals: { n: { type: "int", min: 0, max, source: "caller" } }, effects: { "*": "read" }, rules })
  it("compare as integers", () => {
    for (const [op, isTrue] of Object.entries(holds)) {
      for (const constant of [0, 5, 9, 10, 11, 20]) {
        for (const value of [0, 5, 10]) {
          const said = outcomeOf(
            [
              int(20, [...open, { id: "r", outcome: "require_review", when: [{ signal: "n", [op]: constant }] }]),
              int(10, open)
            ],
            { n: value },
            4
          )
          assert.strictEqual(said, isTrue(value, constant) ? "require_review" : "allow", `${value} ${op} ${constant}`)
        }
      }
    }
  })
  it("equal no value of an enum", () => {
    const named = (values: ReadonlyArray<string>, rules: unknown) =>
      layer({ signals: { e: { type: "enum", values, source: "caller" } }, effects: { "*": "read" }, rules })
    for (const op of ["in", "nin"]) {
      for (const list of [["c"], ["a", "c"], ["a"]]) {
        for (const value of ["a", "b"]) {
          const said = outcomeOf(
            [
              named(
                ["a", "b", "c"],
                [...open, { id: "r", outcome: "require_review", when: [{ signal: "e", [op]: list }] }]
              ),
              named(["b", "a"], open)
            ],
            { e: value },
            4
          )
          assert.strictEqual(
            said,
            list.includes(value) === (op === "in") ? "require_review" : "allow",
            `${value} ${op} ${list.join()}`
          )
        }
      }
    }
  })
})

describe("section 10: the class of a tool in several layers", () => {
  const tools = (effects: unknown) =>
    layer({ signals: { tool: { type: "enum", values: ["pay"], source: "caller" } }, effects, rules: open })
  const star = (effect: string | null) =>
    layer({ signals: {}, effects: effect === null ? {} : { "*": effect }, rules: open })
  it("is the gravest of what each layer gives it, by its name or else as *", () => {
    for (const outer of [null, ...classes]) {
      for (const inner of [null, ...classes]) {
        const given = [outer, inner].flatMap((one) => one ?? [])
        const effect =
          given.length === 0 ? "irreversible" : classes[Math.max(...given.map((one) => classes.indexOf(one)))]!
        for (const tier of [0, 2, 4]) {
          assert.strictEqual(
            outcomeOf([star(outer), tools(inner === null ? {} : { pay: inner })], { tool: "pay" }, tier),
            gravest([table[effect]![tier]!, "allow"]),
            `${outer} ${inner} L${tier}`
          )
        }
      }
    }
  })
})
