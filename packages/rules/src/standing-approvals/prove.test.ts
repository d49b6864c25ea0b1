/** Which values a box admits, and whether it covers no more than one review. */
import { compile, prepare, readEnvelope, withTierFloor } from "@flyball/envelope"
import { assert, describe, it } from "vitest"
import type { Pin } from "./pins.ts"
import { admittedBy, proveStanding } from "./prove.ts"

const large = {
  id: "large",
  outcome: "require_review",
  when: [
    { signal: "amount", gt: 2_000 },
    { signal: "amount", lte: 9_000 }
  ]
}
const { envelope } = readEnvelope({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund", "payout"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, source: "caller" },
    tier: { type: "int", min: 0, max: 4, source: "server" }
  },
  effects: { refund: "read", payout: "read" },
  rules: [
    { id: "all", outcome: "allow", when: [] },
    large,
    { id: "huge", outcome: "require_review", when: [{ signal: "amount", gt: 9_000 }] },
    { id: "payout", outcome: "require_review", when: [{ signal: "tool", in: ["payout"] }] },
    { id: "high", outcome: "require_review", when: [{ signal: "tier", gte: 3 }] }
  ],
  default: { outcome: "deny" }
})
const { compiled } = prepare(compile(withTierFloor([envelope!])).combination!).combination
const place = compiled.rules.findIndex(({ id }) => id === "large")
const inputs = { action: "refund", args: { to: "c-1" }, signals: { amount: 5_000, tool: "refund" } }
const prove = (pins: ReadonlyArray<Pin>, tier = 2) =>
  proveStanding({ asks: [place], compiled, inputs, server: { tier } }, pins)

describe("the box of a standing approval", () => {
  it("admits pinned values, the tool of the reviewed action and the values that the service sets", () => {
    const pins = [
      { path: "/signals/amount", at_most: 6_000 },
      { path: "/signals/note/text", eq: "x" },
      { path: "/args/to", eq: "c-1" }
    ]
    assert.deepStrictEqual(admittedBy(compiled.axes, pins, inputs, { tier: 2, risk_class: "high" }), {
      amount: { at_most: 6_000 },
      risk_class: { eq: "high" },
      tier: { eq: 2 },
      tool: { eq: "refund" }
    })
    const tools = { path: "/signals/tool", one_of: ["refund", "payout"] }
    assert.deepStrictEqual(admittedBy(compiled.axes, [tools], inputs, {}), { tool: { one_of: tools.one_of } })
    assert.deepStrictEqual(admittedBy(compiled.axes, [], { signals: null }, {}), {})
  })

  it("is proved when no rule in it requires a review that the reviewed action did not", () => {
    assert.deepStrictEqual(prove([{ path: "/signals/amount", at_most: 9_000 }]), { kind: "proved" })
  })

  it("is too wide when another rule requires review: by amount, by tool or by the agent's tier", () => {
    const kinds = (pins: ReadonlyArray<Pin>, tier?: number) => {
      const proof = prove(pins, tier)
      return proof.kind === "wider" ? proof.rule : proof.kind
    }
    assert.strictEqual(kinds([{ path: "/signals/amount", at_most: 9_001 }]), "huge")
    const amount = { path: "/signals/amount", at_most: 9_000 }
    assert.strictEqual(kinds([amount, { path: "/signals/tool", one_of: ["refund", "payout"] }]), "payout")
    assert.strictEqual(kinds([amount], 3), "high")
  })

  it("must contain the reviewed action", () => {
    const pins = [
      { path: "/signals/amount", at_most: 9_000 },
      { path: "/args/to", eq: "c-2" }
    ]
    assert.deepStrictEqual(prove(pins), { kind: "outside", place: 1 })
  })
})
