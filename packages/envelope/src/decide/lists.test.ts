import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { compiled, given } from "../analysis/testing/given-envelope.ts"
import { compile } from "../compile/compile.ts"
import { outcomes } from "../language/compiled.ts"
import { UNKNOWN } from "../language/arguments.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { decide, prepare } from "./decide.ts"
import { signalWords } from "./signal-words.ts"

const tool = { type: "enum", values: ["send"], source: "caller" } as const
const kind = { type: "enum", values: ["staff", "customer", "stranger"], source: "args", from: "/to/*/kind" } as const
const size = { type: "int", min: 0, max: 9, source: "args", from: "/to/*/size", on_missing: 0 } as const
const shared = { signals: { tool, kind, size }, effects: { send: "read" } } as const

const rules = [
  { id: "staff", outcome: "allow", when: [{ signal: "kind", in: ["staff"] }] },
  {
    id: "customer",
    outcome: "allow_with_notice",
    notice_ms: 120_000,
    when: [{ signal: "kind", in: ["customer"] }],
    obligations: [{ type: "notify", to: ["sales"] }]
  },
  { id: "big", outcome: "require_review", when: [{ signal: "size", gt: 5 }] }
]
const ready = prepare(compiled(given(rules, shared)))

const ask = (args: unknown, one = ready) =>
  decide(
    one,
    { signals: { tool: "send" }, args, runId: null },
    {
      kill: "none",
      agent: { id: "a", orgUnit: "", isActive: true },
      server: {},
      latches: new Set(),
      windows: () => ({ value: 0, count: 0 }),
      approved: false
    }
  )
const to = (...kinds: ReadonlyArray<string>) => ({ to: kinds.map((kind) => ({ kind })) })

describe("signals of a list", () => {
  it("are decided for each element: the most restrictive decides, and obligations of all remain", () => {
    assert.strictEqual(ask(to("staff", "staff")).matchedRule, "staff")
    assert.deepInclude(ask(to("staff", "customer")), { outcome: "allow_with_notice", noticeMs: 120_000 })
    const reviewed = ask({ to: [{ kind: "customer" }, { kind: "staff", size: 6 }] })
    assert.deepInclude(reviewed, { outcome: "require_review", matchedRule: "big" })
    assert.deepStrictEqual(reviewed.obligations, [{ type: "notify", to: ["sales"] }])
    assert.deepStrictEqual([...ready.point], [0, 6, 0])
    assert.deepInclude(ask(to("customer", "stranger", "staff")), { outcome: "deny", matchedRule: "@default" })
  })

  it("are missing or invalid together with their list", () => {
    const words = (args: unknown) => {
      const { matchedRule, stopped } = ask(args)
      const problem = { rule: matchedRule as "@invalid_signal", signal: stopped?.id ?? null }
      return stopped === null ? matchedRule : signalWords(ready.combination, problem, { tool: "send" }, args)
    }
    const expected = "`kind` should be one of `staff`, `customer`, `stranger`; the arguments have"
    for (const args of [undefined, {}, { to: [] }, { to: [{ kind: "staff" }, {}] }])
      assert.strictEqual(words(args), `${expected} nothing at \`/to/*/kind\`.`)
    for (const [args, received] of [
      [{ to: { 0: { kind: "staff" } } }, "no list"],
      [UNKNOWN, "a value that is not shown"],
      [{ to: ["[redacted]"] }, "a value that is not shown"],
      [to(...Array<string>(257).fill("staff")), "more than 256 elements"],
      [{ to: [{ kind: "staff" }, { kind: 5 }] }, "a number"]
    ] as const)
      assert.strictEqual(words(args), `${expected} ${received} at \`/to/*/kind\`.`)
    assert.strictEqual(words(to(...Array<string>(256).fill("staff"))), "staff")
    assert.strictEqual(
      words({ to: [{ kind: "staff", size: "1" }, { kind: 5 }] }),
      `${expected} a number at \`/to/*/kind\`.`
    )
  })

  it("are unreadable texts in a list of too many, where they have a form", () => {
    const host = { type: "text", source: "args", form: "domain@1", from: "/to/*" } as const
    const own = [
      { id: "own", outcome: "allow", when: [{ signal: "host", under: "example.com" }] },
      { id: "unread", outcome: "require_review", when: [{ signal: "host", readable: false }] }
    ]
    const texts = prepare(compiled(given(own, { signals: { tool, host }, effects: { send: "read" } })))
    const rule = (to: unknown) => ask({ to }, texts).matchedRule
    assert.strictEqual(rule(["anna@example.com", "ben@mail.example.com"]), "own")
    assert.strictEqual(rule(["anna@example.com", "ben@evilexample.com"]), "@default")
    assert.strictEqual(rule(["anna@example.com", "Ben <ben@example.com>"]), "unread")
    assert.strictEqual(rule(Array(256).fill("anna@example.com")), "own")
    assert.strictEqual(rule(Array(257).fill("anna@example.com")), "unread")
    assert.strictEqual(rule([5]), "@invalid_signal")
  })

  it("come to the most restrictive outcome of lists of one element, whatever the elements are", () => {
    const element = fc.record({
      kind: fc.constantFrom("staff", "customer", "stranger", "other", null),
      size: fc.constantFrom(0, 5, 6, 9, 10)
    })
    const severity = (args: unknown) => outcomes.indexOf(ask(args).outcome)
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 8 }), (list) => {
        const alone = list.map((one) => ask({ to: [one] }))
        const whole = ask({ to: list })
        const worst = Math.max(...list.map((one) => severity({ to: [one] })))
        assert.strictEqual(outcomes.indexOf(whole.outcome), worst)
        if (whole.stopped !== null) return
        assert.deepInclude(
          alone.map(({ failedOn, matchedRule }) => ({ failedOn, matchedRule })),
          { failedOn: whole.failedOn, matchedRule: whole.matchedRule }
        )
      }),
      { seed: 35, numRuns: 300 }
    )
  })

  it("go over one list, and neither meters nor latches read them", () => {
    const found = (more: object, extra: object = {}) =>
      readEnvelope({
        semantics: "envelope/1",
        signals: { tool, kind, size, ...more },
        effects: { send: "read" },
        rules: [],
        default: { outcome: "deny" },
        ...extra
      }).findings.map(({ code, path }) => `${code} ${path}`)
    const bool = { type: "bool", source: "args" } as const
    const count = { op: "count", key: ["agent_id"], window_ms: 1 }
    assert.deepStrictEqual(found({ z: { ...bool, from: "/to/0" } }), [])
    assert.deepStrictEqual(found({ z: { ...bool, from: "/cc/*" } }), ["E113 /signals/z/from"])
    assert.deepStrictEqual(found({ z: { ...bool, from: "/to/*/*" } }), ["E113 /signals/z/from"])
    const latch = { z: { ...bool, from: "/to/*/z" }, seen: { type: "bool", source: "latch", set_by: "z" } }
    assert.deepStrictEqual(found(latch), ["E113 /signals/seen/set_by"])
    const twice = { twice: { fn: "sum@1", args: ["size", "size"] } }
    for (const meter of [
      { ...count, op: "sum", of: "size" },
      { ...count, op: "sum", of: "twice" },
      { ...count, key: ["kind"] },
      { ...count, where: { kind: ["staff"] } }
    ])
      assert.deepStrictEqual(found({}, { derived: twice, meters: { m: meter } }), ["E113 /meters/m"])
    const other = given([], { ...shared, signals: { tool, cc: { ...bool, from: "/cc/*" } } })
    assert.deepStrictEqual(
      compile([given(rules, shared), other]).findings.map(({ code }) => code),
      ["E105", "E105"]
    )
  })
})
