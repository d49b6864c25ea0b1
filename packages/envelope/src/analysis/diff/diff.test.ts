import { assert, describe, it } from "vitest"
import type { Envelope } from "../../language/envelope.ts"
import type { DiffReport } from "./diff-report.ts"
import { diff, type DiffOptions } from "./diff.ts"
import { publicationFindings } from "../lint/publication.ts"
import { unitsOf } from "../render/names.ts"
import { compiled, given, payments, signals } from "../testing/given-envelope.ts"

const between = (from: Envelope | null, to: Envelope, options: DiffOptions = {}): DiffReport =>
  diff(from === null ? null : compiled(from).compiled, compiled(to).compiled, options)
const pay = (most: number): object => ({
  id: "pay",
  outcome: "allow",
  when: [
    { signal: "tool", eq: "pay" },
    { signal: "amount", lte: most }
  ]
})
const summary = ({ transitions }: DiffReport): ReadonlyArray<string> =>
  transitions.map(({ from, share, to, volume }) => `${from} > ${to}: ${volume} (${share})`)

describe("diff", () => {
  it("is equal for other words of the same thing", () => {
    const split = given([
      { ...pay(400), id: "a" },
      {
        id: "b",
        outcome: "allow",
        when: [
          { signal: "tool", eq: "pay" },
          { signal: "amount", between: [300, 500] }
        ]
      }
    ])
    assert.deepEqual(
      [between(given([pay(500)]), split).change, between(given([pay(500)]), split).sentence],
      ["equal", "No outcome changes."]
    )
  })

  it("says what is newly allowed, with share, example, deciders and history", () => {
    const history = [
      { tool: "pay", amount: 550, tier: 0, known: true },
      { tool: "pay", amount: 700, tier: 0, known: true }
    ]
    const report = between(given([pay(500)]), given([pay(600)]), { history })
    assert.equal(report.change, "loosens")
    assert.deepEqual(summary(report), ["deny > allow: 1000 (3.33 %)"])
    assert.deepEqual(report.transitions[0]?.decidedBy, { from: "@default", to: "pay" })
    assert.equal(report.transitions[0]?.historyCount, 1)
    assert.match(
      report.sentence,
      new RegExp(
        /^Newly allowed \(deny becomes allow\): 3\.33 % of the domain; /.source +
          /1 of 2 recorded evaluations; for example (?:tool pay|amount)/.source
      )
    )
    assert.equal(between(given([pay(600)]), given([pay(500)])).change, "tightening_only")
  })

  it("treats a first version as loosening what was denied", () => {
    assert.deepEqual(summary(between(null, given([pay(500)]))), ["deny > allow: 5010 (16.68 %)"])
    assert.equal(between(null, given([])).change, "equal")
  })

  it("denies, on the side that does not know it, a new value, a wider bound and an absence", () => {
    const all = [{ id: "all", outcome: "allow", when: [] }]
    const wider = (change: object): DiffReport =>
      between(
        given(all),
        given(all, {
          signals: { ...signals, ...change },
          effects: {
            search: "read",
            refund: "money",
            pay: "money",
            ...("tool" in change ? { drop: "irreversible" } : {})
          }
        })
      )
    const value = wider({ tool: { ...signals.tool, values: ["drop", "search", "refund", "pay"] } })
    assert.deepEqual(summary(value), ["deny > allow: 10010 (25.00 %)"])
    assert.deepEqual(
      [value.transitions[0]?.example["tool"], value.transitions[0]?.decidedBy.from],
      ["drop", "@invalid_signal"]
    )
    assert.match(value.notes[0]!, /tool has other values/)
    const bound = wider({ amount: { ...signals.amount, max: 2001 } })
    assert.deepEqual(summary(bound), ["deny > allow: 30030 (50.00 %)"])
    const absent = wider({ known: { ...signals.known, optional: true } })
    assert.deepEqual(summary(absent), ["deny > allow: 15015 (33.33 %)"])
    assert.equal(absent.transitions[0]?.decidedBy.from, "@missing_signal")
    assert.isUndefined(absent.transitions[0]?.example["known"])
  })

  it("leaves out a signal that only one version has, and says so", () => {
    const { known: _, ...fewer } = signals
    const report = between(
      given([pay(500)], { signals: fewer }),
      given([pay(500), { id: "no", outcome: "deny", when: [{ signal: "known", is: false }] }])
    )
    assert.equal(report.change, "tightening_only")
    assert.match(report.notes.join(), /known is in the new version alone/)
  })

  it("proves a tightening by single rules where the diagram is too large, and never says equal unproved", () => {
    const stricter = payments((json) =>
      json.rules.push({ id: "r21", outcome: "deny", when: [{ signal: "tool", eq: "send_mail" }] })
    )
    const report = between(payments(), stricter, { budget: 20 })
    assert.isFalse(report.complete)
    assert.equal(report.change, "tightening_only")
    assert.equal(between(payments(), stricter, { budget: 1, searchBudget: 1 }).change, "unknown")
    assert.equal(between(stricter, payments(), { budget: 20 }).change, "loosens")
  })

  it("speaks in units", () => {
    const looser = payments((json) => {
      json.params["hard_cap"] = 20_000_000
    })
    assert.match(
      between(payments(), looser, { units: unitsOf(looser) }).sentence,
      /^Newly open to review \(deny becomes require_review\): .*amount 200,000\.00 EUR/
    )
  })
})

describe("E111", () => {
  const looser = between(given([pay(500)]), given([pay(600)]))

  it("asks for a second approver and a backtest of whatever is newly allowed, or not proved to tighten", () => {
    assert.deepEqual(
      publicationFindings(looser, { secondApprover: false, backtest: true }).map(({ code, rules }) => [code, rules]),
      [["E111", ["pay"]]]
    )
    assert.match(
      publicationFindings(looser, { secondApprover: false, backtest: false })[0]!.message,
      /governor who is not its author and a backtest\.$/
    )
    assert.deepEqual(publicationFindings(looser, { secondApprover: true, backtest: true }), [])
    assert.lengthOf(
      publicationFindings(
        { ...looser, change: "unknown", transitions: [] },
        { secondApprover: false, backtest: false }
      ),
      1
    )
  })

  it("lets one governor publish a proved tightening", () => {
    assert.deepEqual(
      publicationFindings(between(given([pay(600)]), given([pay(500)])), { secondApprover: false, backtest: false }),
      []
    )
  })
})
