import { assert, describe, it } from "vitest"
import { compile } from "../compile/compile.ts"
import { decide, prepare } from "./decide.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { readWaiver, waive } from "./waive.ts"

const { envelope } = readEnvelope({
  semantics: "envelope/1",
  effects: { "*": "read" },
  default: { outcome: "deny" },
  signals: { amount: { type: "int", min: 0, max: 100, source: "caller" } },
  rules: [
    { id: "all", outcome: "allow", when: [] },
    { id: "much", outcome: "deny", when: [{ signal: "amount", gt: 10 }], unless: [{ signal: "amount", eq: 50 }] }
  ]
})
const ours = envelope!

describe("a waiver", () => {
  it("is one more exception of its rule, beside the rule's own and other waivers", () => {
    const waivers = [
      [{ signal: "amount", eq: 20 }],
      [
        { signal: "amount", gte: 90 },
        { signal: "amount", lt: 95 }
      ]
    ].map((unless) => readWaiver(ours, "much", unless).waiver!)
    const ready = prepare(compile([waive(ours, waivers)]).combination!)
    const outcome = (amount: number): string =>
      decide(
        ready,
        { signals: { amount }, runId: null },
        {
          kill: "none",
          agent: { id: "a", orgUnit: "u", isActive: true },
          server: {},
          latches: new Set(),
          windows: () => ({ value: 0, count: 0 }),
          approved: false
        }
      ).outcome
    assert.deepEqual([10, 11, 20, 50, 89, 90, 94, 95].map(outcome), [
      "allow",
      "deny",
      "allow",
      "allow",
      "deny",
      "allow",
      "allow",
      "deny"
    ])
    assert.equal(waive(ours, []), ours)
  })

  it("names a rule of the envelope and says where, in the envelope's words", () => {
    const codes = (ruleId: string, unless: unknown): ReadonlyArray<string> =>
      readWaiver(ours, ruleId, unless).findings.map((finding) => `${finding.code} ${finding.path}`)
    assert.deepEqual(codes("none", [{ signal: "amount", eq: 20 }]), ["E100 /rule_id"])
    assert.deepEqual(codes("much", [{ signal: "amuont", eq: 20 }]), ["E100 /unless/0/signal"])
    assert.deepEqual(codes("much", []), ["E113 /unless"])
    assert.deepEqual(codes("much", undefined), ["E113 /unless"])
    assert.deepEqual(codes("much", "all"), ["E113 /unless"])
  })
})
