/** Random envelopes over one small vocabulary, and random inputs for them. */
import fc from "fast-check"

/** JSON of an envelope. */
export type EnvelopeJson = { readonly [name: string]: unknown; readonly rules: ReadonlyArray<{ readonly [name: string]: unknown }> }

const tools = ["order.read", "order.cancel", "mail.send"]
const levels = ["public", "internal", "restricted"]

/** What every envelope here declares. */
export const declarations = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: tools, source: "caller" },
    level: { type: "enum", values: levels, source: "caller", ordered: true, optional: true },
    amount: { type: "int", min: -3, max: 12, source: "caller", unit: "EUR/100" },
    limit: { type: "int", min: -5, max: 5, source: "server", unit: "EUR/100", optional: true },
    paid: { type: "int", min: 0, max: 6, source: "caller" },
    due: { type: "int", min: 0, max: 4, source: "caller" },
    urgent: { type: "bool", source: "caller", on_missing: false },
    tier: { type: "int", min: 0, max: 4, source: "server" }
  },
  derived: { share: { fn: "ratio_bp@1", args: ["paid", "due"] }, left: { fn: "difference@1", args: ["limit", "amount"] }, times: { fn: "product@1", args: ["paid", "amount"] } },
  params: { low: 2, some: ["order.read", "mail.send"], word: "internal" },
  meters: { spend: { op: "sum", of: "paid", where: { tool: ["order.cancel", "mail.send"] }, window_ms: 1_000, key: ["agent_id", "tool"], max_count: 8 } },
  effects: { "order.read": "read", "order.cancel": "write_reversible", "mail.send": "external_message" }
} as const

const ints: { readonly [name: string]: readonly [number, number] } = { amount: [-3, 12], limit: [-5, 5], paid: [0, 6], due: [0, 4], tier: [0, 4], share: [0, 60_000], left: [-17, 8], times: [-18, 72] }
const mayBeAbsent = ["level", "limit", "left"]

const intTest = fc.constantFrom(...Object.keys(ints)).chain((signal) => {
  const [min, max] = ints[signal]!
  const constant = fc.oneof({ weight: 6, arbitrary: fc.integer({ min, max }) }, { weight: 1, arbitrary: fc.constant({ param: "low" }) })
  return fc.oneof(
    fc.constantFrom("lt", "lte", "gt", "gte", "eq").chain((op) => constant.map((c) => ({ signal, [op]: c }))),
    fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => ({ signal, between: [Math.min(a, b), Math.max(a, b)] })),
    fc.constantFrom("in", "nin").chain((op) => fc.array(constant, { minLength: 1, maxLength: 4 }).map((list) => ({ signal, [op]: list })))
  )
})

const test = fc.oneof(
  { weight: 4, arbitrary: intTest },
  fc.constantFrom("in", "nin").chain((op) => fc.oneof(fc.subarray(tools, { minLength: 1 }), fc.constant({ param: "some" })).map((list) => ({ signal: "tool", [op]: list }))),
  fc.constantFrom("order.", "mail", "order.c", "").filter((text) => text !== "").map((prefix) => ({ signal: "tool", prefix })),
  fc.constantFrom("lt", "lte", "gt", "gte", "eq").chain((op) => fc.oneof(fc.constantFrom(...levels), fc.constant({ param: "word" })).map((c) => ({ signal: "level", [op]: c }))),
  fc.boolean().map((is) => ({ signal: "urgent", is })),
  fc.constantFrom(...mayBeAbsent).chain((signal) => fc.boolean().map((present) => ({ signal, present }))),
  fc.constantFrom("after_lt", "after_lte", "after_gt", "after_gte", "after_eq").chain((op) => fc.integer({ min: 0, max: 48 }).map((c) => ({ meter: "spend", [op]: c })))
)

const condition = fc.letrec((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    { weight: 5, arbitrary: test },
    { weight: 1, arbitrary: fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })) },
    { weight: 1, arbitrary: fc.array(tie("condition"), { minLength: 1, maxLength: 2 }).map((all) => ({ all })) },
    { weight: 1, arbitrary: tie("condition").map((not) => ({ not })) }
  )
})).condition as fc.Arbitrary<object>

/** A rule without its id. */
export const ruleJson = fc.record({
  outcome: fc.constantFrom("allow", "allow_with_notice", "require_review", "deny", "halt"),
  when: fc.array(condition, { maxLength: 3 }),
  unless: fc.option(fc.array(condition, { minLength: 1, maxLength: 2 }), { nil: undefined })
}, { requiredKeys: ["outcome", "when"] }).map(({ unless, ...rule }) => (unless === undefined ? rule : { ...rule, unless }))

/** Envelopes with up to six rules, called r0, r1 and so on. */
export const envelopeJson: fc.Arbitrary<EnvelopeJson> = fc.record({ rules: fc.array(ruleJson, { maxLength: 6 }), otherwise: fc.constantFrom("deny", "require_review") })
  .map(({ otherwise, rules }) => ({ ...declarations, rules: rules.map((rule, i) => ({ id: `r${i}`, ...rule })), default: { outcome: otherwise } }))

/** Values of all signals, and what the meter holds before. */
export const inputs = fc.record({
  tool: fc.constantFrom(...tools),
  level: fc.option(fc.constantFrom(...levels), { nil: undefined }),
  amount: fc.integer({ min: -3, max: 12 }),
  limit: fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined }),
  paid: fc.integer({ min: 0, max: 6 }),
  due: fc.integer({ min: 0, max: 4 }),
  urgent: fc.option(fc.boolean(), { nil: undefined }),
  tier: fc.integer({ min: 0, max: 4 }),
  spent: fc.integer({ min: 0, max: 40 })
})
export type Inputs = typeof inputs extends fc.Arbitrary<infer A> ? A : never
