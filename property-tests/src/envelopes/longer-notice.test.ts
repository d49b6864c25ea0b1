/** The time for a notice between two versions, against asking the evaluator about every input of both. */
import { longerNotice } from "../../../packages/envelope/src/analysis/diff/longer-notice.ts"
import { type Combination, compile } from "../../../packages/envelope/src/compile/compile.ts"
import { decide, prepare } from "../../../packages/envelope/src/decide/decide.ts"
import type { Decision } from "../../../packages/envelope/src/decide/decision.ts"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../runs.ts"

const SEED = 20_261_122
const MOST = 5
const tools = ["a", "b", "c"]

const amountTest = fc
  .record({ from: fc.nat({ max: MOST }), more: fc.nat({ max: 3 }) })
  .map(({ from, more }) => ({ signal: "amount", between: [from, Math.min(MOST, from + more)] }))
const toolTest = fc.subarray(tools, { minLength: 1 }).map((names) => ({ signal: "tool", in: names }))
const when = fc.uniqueArray(fc.oneof(amountTest, toolTest), { maxLength: 2, selector: ({ signal }) => signal })
const notice = fc.record({
  outcome: fc.constant("allow_with_notice"),
  when,
  notice_ms: fc.constantFrom(undefined, 1, 2, 59_999, 60_000, 60_001, 90_000)
})
const other = fc.record({ outcome: fc.constantFrom("allow", "allow", "require_review", "deny", "halt"), when })
const rules = fc.array(fc.oneof({ weight: 3, arbitrary: notice }, { weight: 1, arbitrary: other }), {
  minLength: 1,
  maxLength: 4
})

/** One layer or two. Rules without conditions keep defaults away, which would else decide nearly everything. */
const version = fc.array(rules, { minLength: 1, maxLength: 2 })
const combined = (layers: ReadonlyArray<ReadonlyArray<object>>): Combination =>
  compile(
    layers.map((own) => {
      const json = {
        semantics: "envelope/1",
        signals: {
          amount: { type: "int", min: 0, max: MOST, source: "caller" },
          tool: { type: "enum", values: tools, source: "caller", optional: true }
        },
        effects: { a: "read", b: "read", c: "read" },
        default: { outcome: "deny" },
        rules: own.map((rule, at) => ({ id: `r${at}`, ...rule }))
      }
      return readEnvelope(JSON.parse(JSON.stringify(json))).envelope!
    })
  ).combination!

const said = (combination: Combination): ReadonlyArray<Decision> => {
  const ready = prepare(combination)
  return [undefined, ...tools].flatMap((tool) =>
    Array.from({ length: MOST + 1 }, (_, amount) =>
      decide(
        ready,
        { signals: { amount, ...(tool === undefined ? {} : { tool }) }, runId: null },
        {
          kill: "none",
          agent: { id: "", orgUnit: "", isActive: true },
          server: {},
          latches: new Set(),
          windows: () => ({ value: 0, count: 0 }),
          approved: false
        }
      )
    )
  )
}

describe("a longer notice", () => {
  it("is reported exactly when an input waits longer", () => {
    const counts = { longer: 0, not: 0 }
    fc.assert(
      fc.property(version, version, fc.boolean(), rules, (from, other, isEdited, added) => {
        // Versions differ in a rule or two; where all differ, hardly an input is a notice in both.
        const to = isEdited ? [...from.slice(0, -1), [...from.at(-1)!, ...added].slice(-4)] : other
        const [before, after] = [combined(from), combined(to)]
        const now = said(after)
        const longer = said(before).some(
          ({ noticeMs }, at) => noticeMs !== null && now[at]!.noticeMs !== null && now[at]!.noticeMs! > noticeMs
        )
        assert.equal(longerNotice(before, after).length > 0, longer)
        counts[longer ? "longer" : "not"]++
      }),
      { seed: SEED, numRuns: runs(600, 3_000) }
    )
    for (const count of Object.values(counts)) assert.isAbove(count, runs(40, 200), JSON.stringify(counts))
  })
})
