import { assert, describe, it } from "vitest"
import { beyondOutcomes } from "./beyond-outcomes.ts"
import type { DiffReport } from "./diff-report.ts"
import { diff } from "./diff.ts"
import { compiled, given, signals } from "../testing/given-envelope.ts"

const all = { id: "all", outcome: "allow", when: [] }
const amount = { ...signals.amount, unit: "EUR/100" }
const flag = { type: "bool", source: "caller" }
const base = {
  signals: {
    ...signals,
    amount,
    foreign: flag,
    invalid: flag,
    tainted: { type: "bool", source: "latch", set_by: "foreign" }
  }
}
const between = (
  from: object,
  to: object,
  rules: ReadonlyArray<object> = [all],
  later: ReadonlyArray<object> = rules
): DiffReport => {
  const [before, after] = [given(rules, { ...base, ...from }), given(later, { ...base, ...to })]
  return beyondOutcomes(diff(compiled(before).compiled, compiled(after).compiled), before, after)
}
const signal = (name: string, change: object) => ({
  signals: { ...base.signals, [name]: { ...base.signals[name as "invalid"], ...change } }
})
const denies = { id: "no", outcome: "deny", when: [{ signal: "amount", gt: 5 }], retry_after_ms: 5_000 }

describe("what a diff of outcomes cannot see", () => {
  for (const [name, from, to] of [
    ["another unit", {}, signal("amount", { unit: "JPY/1" })],
    ["a unit that is gone", {}, signal("amount", { unit: undefined })],
    ["a latch that another signal sets", {}, signal("tainted", { set_by: "invalid" })],
    [
      "answers out of a cache where the service cannot be reached",
      { on_unavailable: "deny" },
      { on_unavailable: "allow_cached" }
    ]
  ] as const)
    it(`is not proved to tighten: ${name}`, () => {
      const report = between(from, JSON.parse(JSON.stringify(to)))
      assert.equal(report.change, "unknown")
      assert.lengthOf(report.notes, 1)
      assert.include(report.sentence, report.notes[0]!)
      assert.equal(between(JSON.parse(JSON.stringify(to)), JSON.parse(JSON.stringify(to))).change, "equal")
    })

  it("is not required where only stricter or irrelevant members differ", () => {
    assert.equal(between({ on_unavailable: "allow_cached" }, { on_unavailable: "deny" }).change, "equal")
    assert.equal(
      between({}, {}, [all, denies], [all, { ...denies, reason: "Other words.", suggestion: "Less." }]).change,
      "equal"
    )
    assert.equal(between({}, {}, [all, denies], [all, { ...denies, retry_after_ms: 1 }]).change, "unknown")
    assert.equal(between({}, {}, [all], [all, denies]).change, "tightening_only")
  })

  it("is named in the sentence, three at most, and wholly in the notes", () => {
    const many = Array.from({ length: 5 }, (_, at) => ({
      ...denies,
      id: `no_${at}`,
      when: [{ signal: "amount", gt: 5 + at }]
    }))
    const report = between({}, {}, [all, ...many], [all, ...many.map((rule) => ({ ...rule, retry_after_ms: 1 }))])
    assert.lengthOf(report.notes, 5)
    assert.match(report.sentence, /^No outcome changes\. Not as before.*no_0.*no_2.* The notes name 2 more\.$/)
  })
})
