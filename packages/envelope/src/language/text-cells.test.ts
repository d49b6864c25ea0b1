import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { holding } from "../analysis/cells/verdict-at.ts"
import { compiled, given } from "../analysis/testing/given-envelope.ts"
import { compile } from "../compile/compile.ts"
import { decide, prepare, type Situation } from "../decide/decide.ts"
import { readEnvelope } from "./read-envelope.ts"
import { normalOf } from "./text-cells.ts"

const situation: Situation = {
  kill: "none",
  agent: { id: "agt_1", orgUnit: "support", isActive: true },
  server: {},
  latches: new Set(),
  windows: () => assert.fail("no meters"),
  approved: false
}

/** An envelope with one text, and a rule for each condition. */
const over = (signal: object, conditions: ReadonlyArray<object>) =>
  given(
    conditions.map((condition, i) => ({ id: `r${i}`, outcome: "allow", when: [{ signal: "t", ...condition }] })),
    { signals: { t: { type: "text", source: "caller", ...signal } }, effects: { "*": "read" } }
  )

const ruleFor = (signal: object, conditions: ReadonlyArray<object>, t: unknown): string =>
  decide(prepare(compiled(over(signal, conditions))), { signals: { t }, runId: null }, situation).matchedRule

describe("cells of texts", () => {
  it("are those of the vectors, with shortest texts as long", () => {
    const vectors = JSON.parse(
      readFileSync(new URL("../../../../fixtures/vectors/forms/cells.json", import.meta.url), "utf8")
    ) as ReadonlyArray<{ form: string | null; conditions: ReadonlyArray<object>; classes: Record<string, number> }>
    for (const { classes, conditions, form } of vectors) {
      const ready = compiled(over(form === null ? {} : { form: `${form}@1` }, conditions)).compiled
      const { text, values } = ready.axes[0]!
      const found: Record<string, number> = {}
      values!.forEach((value, point) => {
        const normal = normalOf(text!, value)
        if (normal === null) return
        const key = holding(ready, [point]).map(Number).join("")
        found[key] = Math.min(found[key] ?? Infinity, [...normal].length)
      })
      assert.deepEqual(found, classes, JSON.stringify(conditions))
    }
  })

  it("decide a text as its conditions do", () => {
    const path = { form: "path@1", base: "/srv/reports" }
    const below = [{ under: "/srv/reports" }]
    for (const t of ["/srv/reports", "a.csv", "/srv/x/../reports/", "./a/b"])
      assert.equal(ruleFor(path, below, t), "r0")
    for (const t of ["/srv/reports-evil", "../x", "%", "//srv/reports", "a\u0000", "x".repeat(5000), "\ud800"])
      assert.equal(ruleFor(path, below, t), "@default", t)
    assert.equal(ruleFor(path, below, 1), "@invalid_signal")
    const mail = [{ in: ["example.com"] }, { under: "example.com" }, { readable: true }, { readable: false }]
    assert.equal(ruleFor({ form: "domain@1" }, mail, "anna@example.com"), "r0")
    assert.equal(ruleFor({ form: "domain@1" }, mail, "https://a.example.com:80/x"), "r1")
    assert.equal(ruleFor({ form: "domain@1" }, mail, "evilexample.com"), "r2")
    assert.equal(ruleFor({ form: "domain@1" }, mail, "Anna <anna@example.com>"), "r3")
    const plain = [{ length: [0, 2] }, { eq: "abc" }, { prefix: "ab" }, { suffix: "z" }, { nin: ["q"] }]
    const texts = ["", "\u{1f600}z", "abc", "abcd", "bcz", "bcd", "\u{1f600}".repeat(4096)]
    assert.deepEqual(
      texts.map((t) => ruleFor({}, plain, t)),
      ["r0", "r0", "r1", "r2", "r3", "r4", "r4"]
    )
    for (const t of ["x".repeat(4097), "\ud800", null, ["a"]]) assert.equal(ruleFor({}, plain, t), "@invalid_signal")
  })

  it("refuse what would not mean what it says, and name what would", () => {
    const found = (signal: object, condition: object): ReadonlyArray<string> =>
      readEnvelope({
        semantics: "envelope/1",
        signals: { t: { type: "text", source: "caller", ...signal } },
        effects: { "*": "read" },
        rules: [{ id: "r", outcome: "allow", when: [{ signal: "t", ...condition }] }],
        default: { outcome: "deny" }
      }).findings.map(({ code, message }) => `${code} ${message}`)
    const path = { form: "path@1" }
    const cases: ReadonlyArray<readonly [object, object, RegExp]> = [
      [path, { prefix: "/srv" }, /^E113 .*form path@1\. Use under/],
      [{ form: "domain@1" }, { suffix: ".com" }, /^E113 .*Use under/],
      [{}, { under: "/srv" }, /^E113 .*Only a text with a form/],
      [{}, { readable: true }, /^E113/],
      [{ form: "scheme@1" }, { under: "https" }, /^E113/],
      [{}, { lt: "a" }, /^E113/],
      [path, { under: "/srv/" }, /^E105 .*Write "\/srv"\.$/],
      [path, { eq: "/srv/./a" }, /^E105 .*Write "\/srv\/a"\.$/],
      [{ ...path, base: "/srv" }, { in: ["a"] }, /^E105 .*Write "\/srv\/a"\.$/],
      [path, { suffix: "csv/" }, /^E105 .*hold for nothing\.$/],
      [{ form: "domain@1" }, { under: "Example.com" }, /^E105 .*Write "example\.com"\.$/],
      [{ form: "domain@1" }, { under: "1.2.3.4" }, /^E105 .*hold for nothing\.$/],
      [{ form: "domain@1" }, { eq: "https://example.com/" }, /^E105 .*Write "example\.com"\.$/],
      [{ form: "scheme@1" }, { eq: "HTTPS" }, /^E105 .*Write "https"\.$/],
      [{}, { length: [2, 1] }, /^E105/],
      [{}, { length: [0, 4097] }, /^E105/],
      [{ form: "path" }, { present: true }, /^E106 .*path@1/],
      [{ form: "url@1" }, { present: true }, /^E100/],
      [{ base: "/srv" }, { eq: "a" }, /^E113/],
      [{ ...path, base: "srv" }, { eq: "/a" }, /^E105/],
      [{ ...path, on_missing: "%" }, { eq: "/a" }, /^E105/]
    ]
    for (const [signal, condition, expected] of cases) {
      const findings = found(signal, condition)
      assert.isTrue(
        findings.some((one) => expected.test(one)),
        `${JSON.stringify([signal, condition])} ${findings.join()}`
      )
    }
  })

  it("are bounded, and so is the time to make them", () => {
    const many = (count: number, of: (i: number) => object) => Array.from({ length: count }, (_, i) => of(i))
    const of = (conditions: ReadonlyArray<object>) =>
      compile([over({}, conditions)]).findings.map(({ code, path }) => `${code} ${path}`)
    assert.deepEqual(of(many(65, (i) => ({ prefix: `a${i}` }))), ["E113 /signals/t"])
    assert.deepEqual(of(many(60, (i) => (i < 40 ? { prefix: `a${i}` } : { suffix: `${i}` }))), [])
    assert.deepEqual(of(many(120, (i) => (i < 60 ? { prefix: `a${i}` } : { suffix: `${i}` }))), ["E113 /signals/t"])
    const begin = process.cpuUsage().user
    assert.deepEqual(
      of(many(93, (i) => (i < 62 ? { prefix: "a".repeat(140 - i) } : { suffix: "a".repeat(110 - i) }))),
      []
    )
    assert.isBelow((process.cpuUsage().user - begin) / 1_000, 5_000)
  })
})
