import { assert, describe, it } from "vitest"
import { compiled, given } from "../analysis/testing/given-envelope.ts"
import { UNKNOWN } from "../language/arguments.ts"
import { latchesSetBy } from "../meters/latches.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { decide, prepare } from "./decide.ts"
import { signalWords } from "./signal-words.ts"

const tool = { type: "enum", values: ["refund"], source: "caller" } as const

const ready = (signals: object, rules: ReadonlyArray<object>) =>
  prepare(compiled(given(rules, { signals: { tool, ...signals }, effects: { refund: "money" } })))

const ask = (one: ReturnType<typeof ready>, args: unknown, more: object = {}) =>
  decide(
    one,
    { signals: { tool: "refund", ...more }, args, runId: null },
    {
      kill: "none",
      agent: { id: "a", orgUnit: "", isActive: true },
      server: {},
      latches: new Set(),
      windows: () => ({ value: 0, count: 0 }),
      approved: false
    }
  )

describe("signals of source args", () => {
  const amount = { type: "int", min: 0, max: 5_000, unit: "EUR/100", source: "args", from: "/order/a~1b/0" }
  const small = { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 2_000 }] }
  const bounded = ready({ amount }, [small])

  it("are read at their pointer, and a caller cannot state one", () => {
    const at = (value: unknown) => ({ order: { "a/b": [value] } })
    const verdict = (args: unknown, more: object = {}): string => {
      const decision = ask(bounded, args, more)
      const id = decision.stopped === null ? null : decision.stopped.id
      return decision.stopped === null
        ? `${decision.outcome} ${decision.matchedRule}`
        : signalWords(
            bounded.combination,
            { rule: decision.matchedRule as "@missing_signal", signal: id },
            { tool: "refund", ...more },
            args
          )
    }
    assert.strictEqual(verdict(at(2_000)), "allow small")
    assert.strictEqual(verdict(at(2_001)), "deny @default")
    const expected = "`amount` should be an integer from 0 to 5000 (EUR/100); the arguments have"
    for (const [value, received] of [
      ["2000", "a string"],
      [20.5, "a number with a fraction"],
      [null, "null"],
      [9_000, "an integer above 5000"],
      ["[redacted]", "a value that is not shown"]
    ] as const)
      assert.strictEqual(verdict(at(value)), `${expected} ${received} at \`/order/a~1b/0\`.`)
    for (const args of [undefined, null, {}, { order: { "a/b": [] } }, { order: { "a/b": { length: 1 } } }])
      assert.strictEqual(verdict(args), `${expected} nothing at \`/order/a~1b/0\`.`)
    for (const args of [UNKNOWN, "[redacted]", { order: "[redacted]" }])
      assert.strictEqual(verdict(args), `${expected} a value that is not shown at \`/order/a~1b/0\`.`)
    assert.strictEqual(
      verdict(at(1), { amount: 1 }),
      "`amount` comes from the arguments: expected no value from the caller, received a number."
    )
  })

  it("have the meaning of their absence, and no value of an object's prototype", () => {
    const missing = (from: string, more: object) =>
      ask(
        ready({ sure: { type: "bool", source: "args", from, ...more } }, [
          { id: "sure", outcome: "allow", when: [{ signal: "sure", is: true }] },
          { id: "open", outcome: "require_review", when: [{ signal: "sure", is: false }] }
        ]),
        { sure: [true], "": { "": true } }
      ).matchedRule
    assert.strictEqual(missing("/sure/0", {}), "sure")
    assert.strictEqual(missing("//", {}), "sure")
    assert.strictEqual(missing("/sure/00", { optional: true }), "@default")
    for (const from of ["/sure/-", "/sure/length", "/constructor", "/__proto__"])
      assert.strictEqual(missing(from, { on_missing: false }), "open")
    assert.strictEqual(missing("/sure", { on_missing: false }), "@invalid_signal")
  })

  it("set latches as the caller's do", () => {
    const latch = { type: "bool", source: "latch", set_by: "sure" }
    const { envelope, findings } = readEnvelope({
      semantics: "envelope/1",
      signals: { tool, sure: { type: "bool", source: "args", from: "/sure" }, seen: latch },
      effects: { refund: "money" },
      rules: [],
      default: { outcome: "deny" }
    })
    assert.deepStrictEqual(findings, [])
    const set = (args: unknown) => latchesSetBy(envelope!.signals, { sure: true }, {}, args)
    assert.deepStrictEqual(set({ sure: true }), ["seen"])
    for (const args of [{ sure: false }, { sure: "true" }, {}, undefined, UNKNOWN])
      assert.deepStrictEqual(set(args), [])
  })

  it("name a pointer, and are not the tool", () => {
    const codes = (signals: object) =>
      readEnvelope({
        semantics: "envelope/1",
        signals,
        effects: {},
        rules: [],
        default: { outcome: "deny" }
      })
        .findings.filter(({ code }) => code !== "E112")
        .map(({ code, path }) => `${code} ${path}`)
    const bool = { type: "bool", source: "args" }
    assert.deepStrictEqual(codes({ a: bool }), ["E113 /signals/a"])
    for (const from of ["", "a", "/~2", "/a~", 5])
      assert.deepStrictEqual(codes({ a: { ...bool, from } }), ["E113 /signals/a/from"])
    assert.deepStrictEqual(codes({ a: { ...bool, from: "/" }, b: { ...bool, from: "/a/~01" } }), [])
    assert.deepStrictEqual(codes({ a: { type: "bool", source: "caller", from: "/a" } }), ["E113 /signals/a/from"])
    assert.deepStrictEqual(codes({ tool: { ...tool, source: "args", from: "/tool" } }), ["E103 /signals/tool"])
  })
})
