/**
 * Twenty rules over eight signals: as an envelope, as hand-written JavaScript, and inputs for both. The same set for
 * every engine that is compared.
 */

const allTools = [
  "search",
  "read_file",
  "lookup",
  "send_mail",
  "refund",
  "cancel_order",
  "wire_transfer",
  "delete_data"
]
const money = ["refund", "wire_transfer"]
const side = ["send_mail", "refund", "cancel_order", "wire_transfer", "delete_data"]
const reads = ["search", "read_file", "lookup"]
const classes = ["public", "internal", "confidential", "restricted"]
const places = ["dev", "staging", "prod"]

/** The set in envelope/1. */
export const envelopeJson = {
  semantics: "envelope/1",
  name: "Twenty rules",
  signals: {
    tool: { type: "enum", values: allTools, source: "caller" },
    data_class: { type: "enum", values: classes, source: "caller", ordered: true },
    place: { type: "enum", values: places, source: "caller" },
    amount: { type: "int", min: 0, max: 100_000_000, unit: "EUR/100", source: "caller" },
    confidence_bp: { type: "int", min: 0, max: 10_000, unit: "bp", source: "caller" },
    tier: { type: "int", min: 0, max: 4, source: "server" },
    tainted: { type: "bool", source: "caller" },
    reversible: { type: "bool", source: "caller" }
  },
  effects: {
    search: "read",
    read_file: "read",
    lookup: "read",
    send_mail: "external_message",
    refund: "money",
    cancel_order: "write_reversible",
    wire_transfer: "money",
    delete_data: "irreversible"
  },
  rules: [
    {
      id: "r01",
      outcome: "allow",
      when: [
        { signal: "tool", in: reads },
        { signal: "data_class", lte: "internal" }
      ]
    },
    {
      id: "r02",
      outcome: "allow",
      when: [
        { signal: "tool", in: reads },
        { signal: "data_class", eq: "confidential" },
        { signal: "tier", gte: 2 }
      ]
    },
    {
      id: "r03",
      outcome: "allow_with_notice",
      when: [
        { signal: "tool", in: reads },
        { signal: "data_class", eq: "restricted" },
        { signal: "tier", gte: 3 }
      ]
    },
    {
      id: "r04",
      outcome: "allow",
      when: [
        { signal: "tool", eq: "refund" },
        { signal: "amount", lte: 2_000 },
        { signal: "tier", gte: 2 }
      ]
    },
    {
      id: "r05",
      outcome: "allow_with_notice",
      when: [
        { signal: "tool", eq: "refund" },
        { signal: "amount", between: [2_001, 50_000] },
        { signal: "tier", gte: 3 }
      ]
    },
    {
      id: "r06",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "refund" },
        { signal: "amount", gt: 50_000 }
      ]
    },
    {
      id: "r07",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "wire_transfer" },
        { signal: "amount", lte: 5_000_000 }
      ]
    },
    {
      id: "r08",
      outcome: "deny",
      when: [
        { signal: "tool", eq: "wire_transfer" },
        { signal: "amount", gt: 5_000_000 }
      ]
    },
    {
      id: "r09",
      outcome: "deny",
      when: [
        { signal: "tool", in: money },
        { signal: "confidence_bp", lt: 5_000 }
      ],
      unless: [{ signal: "amount", lte: 1_000 }]
    },
    {
      id: "r10",
      outcome: "allow",
      when: [
        { signal: "tool", eq: "send_mail" },
        { signal: "data_class", eq: "public" },
        { signal: "tier", gte: 2 }
      ]
    },
    {
      id: "r11",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "send_mail" },
        { signal: "data_class", gte: "internal" }
      ]
    },
    {
      id: "r12",
      outcome: "deny",
      when: [
        { signal: "tool", eq: "send_mail" },
        { signal: "data_class", eq: "restricted" }
      ]
    },
    {
      id: "r13",
      outcome: "allow",
      when: [
        { signal: "tool", eq: "cancel_order" },
        { signal: "reversible", is: true },
        { signal: "tier", gte: 1 }
      ]
    },
    {
      id: "r14",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "cancel_order" },
        { signal: "reversible", is: false }
      ]
    },
    {
      id: "r15",
      outcome: "allow_with_notice",
      when: [
        { signal: "tool", eq: "delete_data" },
        { signal: "place", in: ["dev", "staging"] },
        { signal: "tier", gte: 3 }
      ]
    },
    {
      id: "r16",
      outcome: "deny",
      when: [
        { signal: "tool", eq: "delete_data" },
        { signal: "place", eq: "prod" }
      ]
    },
    {
      id: "r17",
      outcome: "halt",
      when: [
        { signal: "tool", eq: "delete_data" },
        { signal: "tainted", is: true }
      ]
    },
    {
      id: "r18",
      outcome: "require_review",
      when: [
        { signal: "tainted", is: true },
        { signal: "tool", in: side }
      ]
    },
    { id: "r19", outcome: "deny", when: [{ signal: "confidence_bp", lt: 1_000 }] },
    {
      id: "r20",
      outcome: "halt",
      when: [
        { signal: "amount", gte: 90_000_000 },
        { signal: "confidence_bp", lt: 2_000 }
      ]
    }
  ],
  default: { outcome: "deny" }
}

/** A later version: two rules loosened, one tightened. */
export const changedJson = {
  ...envelopeJson,
  rules: envelopeJson.rules.map((rule) => {
    if (rule.id === "r04")
      return {
        ...rule,
        when: [
          { signal: "tool", eq: "refund" },
          { signal: "amount", lte: 5_000 },
          { signal: "tier", gte: 2 }
        ]
      }
    if (rule.id === "r08")
      return {
        ...rule,
        when: [
          { signal: "tool", eq: "wire_transfer" },
          { signal: "amount", gt: 1_000_000 }
        ]
      }
    return rule.id === "r19" ? { ...rule, when: [{ signal: "confidence_bp", lt: 500 }] } : rule
  })
}

/** Input from the agent; its tier is the server's. */
export interface Input {
  readonly caller: {
    readonly tool: string
    readonly data_class: string
    readonly place: string
    readonly amount: number
    readonly confidence_bp: number
    readonly tainted: boolean
    readonly reversible: boolean
  }
  readonly server: { readonly tier: number }
}

/** The deciding rule and what it says. */
export interface Verdict {
  readonly outcome: string
  readonly rule: string
}

const verdict = (outcome: string, rule: string): Verdict => ({ outcome, rule })

/**
 * The physical limit: the rules as a person would write them for speed, the most restrictive first, ending at the first
 * that holds. Checks no input and leaves no trace.
 */
export const handWritten = ({
  caller: { amount, confidence_bp: confidence, data_class: data, place, reversible, tainted, tool },
  server: { tier }
}: Input): Verdict => {
  const isRead = tool === "search" || tool === "read_file" || tool === "lookup"
  const isMoney = tool === "refund" || tool === "wire_transfer"
  if (tool === "delete_data" && tainted) return verdict("halt", "r17")
  if (amount >= 90_000_000 && confidence < 2_000) return verdict("halt", "r20")
  if (tool === "wire_transfer" && amount > 5_000_000) return verdict("deny", "r08")
  if (isMoney && confidence < 5_000 && amount > 1_000) return verdict("deny", "r09")
  if (tool === "send_mail" && data === "restricted") return verdict("deny", "r12")
  if (tool === "delete_data" && place === "prod") return verdict("deny", "r16")
  if (confidence < 1_000) return verdict("deny", "r19")
  if (tool === "refund" && amount > 50_000) return verdict("require_review", "r06")
  if (tool === "wire_transfer") return verdict("require_review", "r07")
  if (tool === "send_mail" && data !== "public") return verdict("require_review", "r11")
  if (tool === "cancel_order" && !reversible) return verdict("require_review", "r14")
  if (tainted && !isRead) return verdict("require_review", "r18")
  if (isRead && data === "restricted" && tier >= 3) return verdict("allow_with_notice", "r03")
  if (tool === "refund" && amount > 2_000 && tier >= 3) return verdict("allow_with_notice", "r05")
  if (tool === "delete_data" && tier >= 3) return verdict("allow_with_notice", "r15")
  if (isRead && (data === "public" || data === "internal")) return verdict("allow", "r01")
  if (isRead && data === "confidential" && tier >= 2) return verdict("allow", "r02")
  if (tool === "refund" && amount <= 2_000 && tier >= 2) return verdict("allow", "r04")
  if (tool === "send_mail" && data === "public" && tier >= 2) return verdict("allow", "r10")
  if (tool === "cancel_order" && tier >= 1) return verdict("allow", "r13")
  return verdict("deny", "@default")
}

/** Inputs drawn from a seed, half of the numbers on a bound of some rule or one beside it. */
export const inputsFrom = (seed: number, count: number): ReadonlyArray<Input> => {
  let state = seed >>> 0
  const below = (most: number): number => {
    // A linear congruence's high bits (Numerical Recipes' constants): good enough to spread inputs, and the same
    // everywhere.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
  const one = <A>(list: ReadonlyArray<A>): A => list[below(list.length)]!
  const near = (bounds: ReadonlyArray<number>, most: number): number =>
    below(2) === 0 ? Math.min(most, Math.max(0, one(bounds) - 1 + below(3))) : below(most + 1)
  return Array.from({ length: count }, () => ({
    caller: {
      tool: one(allTools),
      data_class: one(classes),
      place: one(places),
      amount: near([0, 1_000, 2_000, 50_000, 5_000_000, 90_000_000], 100_000_000),
      confidence_bp: near([1_000, 2_000, 5_000], 10_000),
      tainted: below(4) === 0,
      reversible: below(2) === 0
    },
    server: { tier: below(5) }
  }))
}
