import type { EnvelopeSource } from "@flyball/core"

/** Up to 20 EUR alone, 50 EUR a day. Everything that no rule allows is denied. */
export const ENVELOPE: EnvelopeSource = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller" }
  },
  effects: { refund: "money" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 2_000 }] },
    { id: "daily", outcome: "deny", reason: "50 EUR a day are enough", when: [{ meter: "spent", after_gt: 5_000 }] }
  ],
  default: { outcome: "deny" }
}
