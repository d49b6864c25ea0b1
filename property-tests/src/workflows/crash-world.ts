/** The world that the crash tests of workflows share: the org unit, and the agent's envelope. */

/** The org unit of all of it. */
export const UNIT = "ops"

/** Allows what costs up to 100. */
export const ENVELOPE = {
  semantics: "envelope/1",
  signals: { amount: { type: "int", min: 0, max: 10_000, source: "caller", on_missing: 0 } },
  effects: { "*": "write_reversible" },
  rules: [{ id: "small", outcome: "allow", when: [{ signal: "amount", lte: 100 }] }],
  default: { outcome: "deny" }
} as const
