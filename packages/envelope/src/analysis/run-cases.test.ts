import { assert, describe, it } from "vitest"
import { runCases } from "./run-cases.ts"

const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 9_000, source: "caller" },
    foreign: { type: "bool", source: "caller", on_missing: false },
    latched: { type: "bool", source: "latch", set_by: "foreign" },
    known: { type: "bool", source: "server", on_missing: false }
  },
  effects: { refund: "money" },
  meters: { spent: { op: "sum", of: "amount", window_ms: 1_000, key: ["run_id"] } },
  rules: [
    { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 500 }] },
    { id: "known", outcome: "allow", when: [{ signal: "known", is: true }] },
    { id: "spent", outcome: "deny", when: [{ meter: "spent", after_gt: 900 }] },
    { id: "latched", outcome: "halt", when: [{ signal: "latched", is: true }] }
  ],
  default: { outcome: "deny" }
}
const refund = (amount: unknown, more: object = {}) => ({ action: "refund", args: { amount, note: "x" }, ...more })
const run = (one: object) => runCases({ envelope, tier: "L4", cases: [{ name: "one", ...one }] })
const differenceOf = (one: object): string | null | undefined => {
  const { cases, findings } = run(one)
  assert.deepStrictEqual(findings, [])
  return cases[0]?.difference
}

describe("cases beside an envelope", () => {
  it("see what came before in the same run, each alone", () => {
    const allowed = { outcome: "allow_with_notice", rule: "@tier_floor" }
    for (const [before, expected] of [
      [[refund(500)], { outcome: "deny", rule: "spent" }],
      [[refund(500, { ago_ms: 1_000 })], allowed],
      [[refund(8_000)], allowed],
      [[refund("none"), refund(-1)], allowed],
      [[{ signals: { foreign: true } }], { outcome: "halt", rule: "latched" }]
    ] as const)
      assert.isNull(differenceOf({ before, input: refund(500), ...expected }), JSON.stringify(before))
    assert.isNull(differenceOf({ input: refund(500), outcome: "allow_with_notice" }))
    assert.isNull(differenceOf({ input: refund(900, { server: { known: true }, tier: "L0" }), outcome: "deny" }))
    assert.isNull(differenceOf({ input: refund(900, { server: { known: true } }), ...allowed }))
  })

  it("say what was found instead, and where the expected rule does not hold", () => {
    for (const [one, difference] of [
      [
        { input: refund(600), outcome: "allow_with_notice", rule: "small" },
        "Expected allow_with_notice by small, found deny by @default. The rule small does not hold: see amount."
      ],
      [
        { input: refund(500), outcome: "allow_with_notice", rule: "small" },
        "Expected allow_with_notice by small, found allow_with_notice by @tier_floor. The rule small holds too, and " +
          "the other one is decided before it."
      ],
      [
        { input: refund(500), outcome: "deny", rule: "smal" },
        "Expected deny by smal, found allow_with_notice by @tier_floor. The envelope has no rule smal."
      ],
      [
        { input: refund("5"), outcome: "deny", rule: "@default" },
        "Expected deny by @default, found deny by @invalid_signal. `amount` should be an integer from 0 to 9000; " +
          "received a string."
      ],
      [
        { input: { signals: { tool: "refund", sum: 5 } }, outcome: "allow" },
        "Expected allow, found deny by @missing_signal. `amount` should be an integer from 0 to 9000; received nothing."
      ]
    ] as const)
      assert.strictEqual(differenceOf(one), difference)
  })

  it("are not run where the file or the envelope is wrong", () => {
    const findingsOf = (tests: unknown, other?: unknown) =>
      runCases(tests, other).findings.map(({ code, in: place, path }) => `${place} ${code} ${path}`)
    const good = { name: "one", input: refund(5), outcome: "allow" }
    assert.deepStrictEqual(findingsOf(null), ["tests E113 ", "envelope E113 "])
    assert.deepStrictEqual(findingsOf({ envelope: 5, tier: "L4", cases: [good] }), ["envelope E113 "])
    assert.deepStrictEqual(findingsOf({ tier: "L4", cases: [good] }, envelope), [])
    for (const [cases, found] of [
      [[], "E113 /cases"],
      [[{ ...good, outcom: "deny" }], "E100 /cases/0/outcom"],
      [[{ ...good, outcome: "denied" }], "E100 /cases/0/outcome"],
      [[{ ...good, input: refund(5, { ago_ms: 5 }) }], "E100 /cases/0/input/ago_ms"],
      [[{ ...good, before: [refund(5), refund(5, { ago_ms: 5 })] }], "E113 /cases/0/before"]
    ] as const)
      assert.deepStrictEqual(findingsOf({ envelope, tier: "L4", cases }), [`tests ${found}`])
    assert.deepStrictEqual(findingsOf({ envelope, cases: [good] }), ["tests E113 /cases/0/input"])
  })
})
