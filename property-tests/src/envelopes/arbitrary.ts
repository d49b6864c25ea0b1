/** Random envelopes over one small vocabulary, and random inputs for them. */
import fc from "fast-check"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"

/** JSON of an envelope. */
export type EnvelopeJson = {
  readonly [name: string]: unknown
  readonly rules: ReadonlyArray<{ readonly [name: string]: unknown }>
}

const tools = ["order.read", "order.cancel", "mail.send"]
const levels = ["public", "internal", "restricted"]

/** Declarations that all envelopes here share. */
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
  derived: {
    share: { fn: "ratio_bp@1", args: ["paid", "due"] },
    left: { fn: "difference@1", args: ["limit", "amount"] },
    times: { fn: "product@1", args: ["paid", "amount"] }
  },
  params: { low: 2, some: ["order.read", "mail.send"], word: "internal" },
  meters: {
    spend: {
      op: "sum",
      of: "paid",
      where: { tool: ["order.cancel", "mail.send"] },
      window_ms: 1_000,
      key: ["agent_id", "tool"],
      max_count: 8
    }
  },
  effects: { "order.read": "read", "order.cancel": "write_reversible", "mail.send": "external_message" }
} as const

const ints: { readonly [name: string]: readonly [number, number] } = {
  amount: [-3, 12],
  limit: [-5, 5],
  paid: [0, 6],
  due: [0, 4],
  tier: [0, 4],
  share: [0, 60_000],
  left: [-17, 8],
  times: [-18, 72]
}
const mayBeAbsent = ["level", "limit", "left"]

const intTest = fc.constantFrom(...Object.keys(ints)).chain((signal) => {
  const [min, max] = ints[signal]!
  const constant = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min, max }) },
    { weight: 1, arbitrary: fc.constant({ param: "low" }) }
  )
  return fc.oneof(
    fc.constantFrom("lt", "lte", "gt", "gte", "eq").chain((op) => constant.map((c) => ({ signal, [op]: c }))),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => ({ signal, between: [Math.min(a, b), Math.max(a, b)] })),
    fc
      .constantFrom("in", "nin")
      .chain((op) => fc.array(constant, { minLength: 1, maxLength: 4 }).map((list) => ({ signal, [op]: list })))
  )
})

const test = fc.oneof(
  { weight: 4, arbitrary: intTest },
  fc
    .constantFrom("in", "nin")
    .chain((op) =>
      fc
        .oneof(fc.subarray(tools, { minLength: 1 }), fc.constant({ param: "some" }))
        .map((list) => ({ signal: "tool", [op]: list }))
    ),
  fc
    .constantFrom("order.", "mail", "order.c", "")
    .filter((text) => text !== "")
    .map((prefix) => ({ signal: "tool", prefix })),
  fc
    .constantFrom("lt", "lte", "gt", "gte", "eq")
    .chain((op) =>
      fc.oneof(fc.constantFrom(...levels), fc.constant({ param: "word" })).map((c) => ({ signal: "level", [op]: c }))
    ),
  fc.boolean().map((is) => ({ signal: "urgent", is })),
  fc.constantFrom(...mayBeAbsent).chain((signal) => fc.boolean().map((present) => ({ signal, present }))),
  fc
    .constantFrom("after_lt", "after_lte", "after_gt", "after_gte", "after_eq")
    .chain((op) => fc.integer({ min: 0, max: 48 }).map((c) => ({ meter: "spend", [op]: c })))
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
export const ruleJson = fc
  .record(
    {
      outcome: fc.constantFrom("allow", "allow_with_notice", "require_review", "deny", "halt"),
      when: fc.array(condition, { maxLength: 3 }),
      unless: fc.option(fc.array(condition, { minLength: 1, maxLength: 2 }), { nil: undefined })
    },
    { requiredKeys: ["outcome", "when"] }
  )
  .map(({ unless, ...rule }) => (unless === undefined ? rule : { ...rule, unless }))

/** Envelopes with up to six rules, called r0, r1 and so on. */
export const envelopeJson: fc.Arbitrary<EnvelopeJson> = fc
  .record({ rules: fc.array(ruleJson, { maxLength: 6 }), otherwise: fc.constantFrom("deny", "require_review") })
  .map(({ otherwise, rules }) => ({
    ...declarations,
    rules: rules.map((rule, i) => ({ id: `r${i}`, ...rule })),
    default: { outcome: otherwise }
  }))

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

/** Ways to say what a missing value is: it is an error, it is absent, it counts as one of these. */
const absences = (...values: ReadonlyArray<string | number | boolean>): fc.Arbitrary<object> =>
  fc.constantFrom<object>({}, { optional: true }, ...values.map((on_missing) => ({ on_missing })))
/** Most layers say what the others say, or few would fit. */
const mostly = <A>(usual: A, others: fc.Arbitrary<A>): fc.Arbitrary<A> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others })
const { amount, due, level, limit, paid, tier, tool, urgent } = declarations.signals

/** Declarations of one layer: domains, absence and now and then the source are its own; it may lack some. */
const layerDeclarations = fc
  .record({
    tool: mostly<object>(
      {},
      fc
        .record({ values: fc.shuffledSubarray([...tools, "wire.send"], { minLength: 1 }), absence: absences() })
        .map(({ absence, values }) => ({ values, ...absence }))
    ),
    level: mostly<object>({}, fc.constantFrom({ optional: false }, { optional: false, on_missing: "internal" })),
    amount: mostly<object>(
      {},
      fc
        .record({
          min: fc.integer({ min: -6, max: 0 }),
          max: fc.integer({ min: 1, max: 20 }),
          absence: absences(0, 1),
          source: fc.constantFrom("caller", "caller", "caller", "server")
        })
        .map(({ absence, ...rest }) => ({ ...rest, ...absence }))
    ),
    limit: mostly<object>(
      {},
      fc.constantFrom({ optional: false }, { optional: false, on_missing: 0 }, { max: 9 }, { min: -1, max: 1 })
    ),
    paid: mostly<object>(
      {},
      fc
        .record({ min: fc.constantFrom(0, 0, 0, 1, -2), max: fc.integer({ min: 2, max: 10 }), absence: absences(1, 2) })
        .map(({ absence, ...rest }) => ({ ...rest, ...absence }))
    ),
    due: mostly<object>(
      {},
      fc
        .record({ max: fc.integer({ min: 1, max: 8 }), absence: absences(0, 1) })
        .map(({ absence, ...rest }) => ({ ...rest, ...absence }))
    ),
    urgent: mostly<object>(
      {},
      fc.constantFrom({ on_missing: true }, { on_missing: undefined }, { on_missing: undefined, optional: true })
    ),
    lacks: mostly<ReadonlyArray<string>>(
      [],
      fc.subarray(["level", "limit", "due", "urgent", "share", "left", "times", "spend"])
    ),
    filter: mostly<object>({}, fc.constant({ where: { tool: ["mail.send"] } }))
  })
  .map(({ filter, lacks, ...own }) => {
    const kept = <A extends object>(all: A): object =>
      Object.fromEntries(Object.entries(all).filter(([name]) => !lacks.includes(name)))
    const signals = {
      tool: { ...tool, ...own.tool },
      level: { ...level, ...own.level },
      amount: { ...amount, ...own.amount },
      limit: { ...limit, ...own.limit },
      paid: { ...paid, ...own.paid },
      due: { ...due, ...own.due },
      urgent: { ...urgent, ...own.urgent },
      tier
    }
    const { effects: _, derived, meters, ...rest } = declarations
    return JSON.parse(
      JSON.stringify({
        ...rest,
        signals: kept(signals),
        derived: kept(derived),
        meters: kept({ spend: { ...meters.spend, ...filter } }),
        effects: Object.fromEntries(signals.tool.values.map((name) => [name, "read"]))
      })
    ) as object
  })

/** Whatever is found fault with in an envelope's own words is left out of it: rules, meters, derived signals. */
export const repaired = (json: EnvelopeJson): EnvelopeJson => {
  const { envelope, findings } = readEnvelope(json)
  if (envelope !== null) return json
  const faults = findings.map(({ path }) => path.split("/").slice(1, 3))
  if (!faults.some(([of]) => of === "rules" || of === "meters" || of === "derived"))
    throw new Error(JSON.stringify(findings))
  const without = (member: string): object =>
    Object.fromEntries(
      Object.entries((json[member] ?? {}) as object).filter(
        ([name]) => !faults.some(([of, which]) => of === member && which === name)
      )
    )
  return repaired({
    ...json,
    derived: without("derived"),
    meters: without("meters"),
    rules: json.rules.filter((_, i) => !faults.some(([of, which]) => of === "rules" && which === String(i)))
  })
}

/**
 * An envelope whose declarations differ a little from those of others made so. Most permit everything but for a few
 * rules, or defaults would hide what the rules say.
 */
export const layerJson: fc.Arbitrary<EnvelopeJson> = fc
  .record({
    own: layerDeclarations,
    some: fc.array(ruleJson, { maxLength: 3 }),
    permits: fc.constantFrom(true, true, true, false),
    caps: fc.boolean(),
    outcome: fc.constantFrom("deny", "require_review")
  })
  .map(({ caps, outcome, own, permits, some }) => {
    const { paid } = (own as { readonly signals: { readonly paid: { readonly max: number } } }).signals
    const all = [
      ...(permits ? [{ outcome: "allow", when: [] }] : []),
      ...(caps ? [{ outcome: "require_review", when: [{ signal: "share", eq: paid.max * 10_000 }] }] : []),
      ...some
    ]
    return repaired({ ...own, rules: all.map((rule, i) => ({ id: `r${i}`, ...rule })), default: { outcome } })
  })

const signalNames = ["tool", "level", "amount", "limit", "paid", "due", "urgent"]

/** Nearly always a value that every layer has, or most inputs would be refused by one of them. */
const within = (
  core: readonly [number, number],
  usual: readonly [number, number],
  all: readonly [number, number]
): fc.Arbitrary<number> =>
  fc.oneof(
    ...(
      [
        [8, core],
        [2, usual],
        [1, all]
      ] as const
    ).map(([weight, [min, max]]) => ({ weight, arbitrary: fc.integer({ min, max }) }))
  )

/** Values in and around the domains of such layers; any may be missing. */
export const layerInputs = fc.record({
  tool: fc.constantFrom(...tools, ...tools, ...tools, "wire.send"),
  level: fc.constantFrom(...levels),
  amount: within([0, 1], [-3, 12], [-7, 21]),
  limit: within([-1, 1], [-5, 5], [-6, 10]),
  paid: within([1, 2], [0, 6], [-3, 11]),
  due: within([0, 1], [0, 4], [0, 9]),
  urgent: fc.boolean(),
  missing: fc.oneof(
    { weight: 3, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
    { weight: 2, arbitrary: fc.constantFrom(...signalNames).map((name) => [name]) },
    { weight: 1, arbitrary: fc.subarray(signalNames) }
  ),
  tier: fc.integer({ min: 0, max: 4 }),
  spent: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 48 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 100 }) }
  ),
  count: fc.integer({ min: 0, max: 8 })
})
export type LayerInputs = typeof layerInputs extends fc.Arbitrary<infer A> ? A : never
