/** A small envelope about payments, for requests that need one. */

/** Payments up to this amount have the outcome, and larger ones are denied. */
export const paymentsUpTo = (amount: number, outcome: "allow" | "require_review") => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "caller" }
  },
  effects: { pay: "write_reversible" },
  rules: [{ id: "small", outcome, when: [{ signal: "amount", lte: amount }] }],
  default: { outcome: "deny" }
})
