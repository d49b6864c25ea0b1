import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ann, ask, ben, governedAgent, key, refunds } from "../evaluations/testing/refunds.ts"
import { Evaluations } from "../evaluations/service.ts"
import { Agents } from "../../registry/agents/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Envelopes } from "./service.ts"

const {
  meters: { spent },
  rules,
  signals
} = refunds() as {
  readonly meters: { readonly spent: object }
  readonly rules: ReadonlyArray<{ readonly id: string; readonly obligations?: unknown }>
  readonly signals: { readonly amount: object }
}
const verified = (source: string) => ({
  signals: { ...signals, identity_verified: { type: "bool", source } },
  rules: [...rules, { id: "unverified", outcome: "deny", when: [{ signal: "identity_verified", is: false }] }]
})

const tool = { type: "enum", values: ["search", "refund"], source: "caller" }
const amount = { type: "int", min: 0, max: 1_000, source: "caller" }
const anything = { id: "anything", outcome: "allow", when: [] }
const bounds = (more: { readonly [member: string]: unknown } = {}) => ({
  semantics: "envelope/1",
  signals: { tool, amount },
  effects: { search: "read", refund: "read" },
  rules: [anything],
  default: { outcome: "deny" },
  ...more
})
const denying = (signal: string, test: object) =>
  bounds({ rules: [anything, { id: "no", outcome: "deny", when: [{ signal, ...test }] }] })
const wide = bounds({
  signals: { tool: { ...tool, values: ["search", "refund", "wire"] }, amount: { ...amount, max: 1_000_000 } },
  effects: { search: "read", refund: "read", wire: "read" }
})
const budget = { spent: { op: "sum", of: "amount", window_ms: 86_400_000, key: ["agent_id"] } }
const capped = bounds({
  meters: budget,
  rules: [anything, { id: "cap", outcome: "deny", when: [{ meter: "spent", after_gt: 1_000 }] }]
})

/** An active agent under the envelope of its org unit, both in force; two people published them. */
const underUnit = (ofUnit: { readonly [member: string]: unknown }) =>
  Effect.gen(function* () {
    const envelopes = yield* Envelopes
    const agent = yield* registered("bot")
    const unit = yield* envelopes.create({ name: "Unit", org_unit: "ops", envelope: ofUnit }, ann)
    yield* envelopes.publish(unit.id, {}, ben)
    yield* Agents.use((agents) => agents.activate(agent.id, ben))
    return { agentId: agent.id, unitId: unit.id }
  })
const ownEnvelope = (agentId: string, envelope: { readonly [member: string]: unknown }) =>
  Envelopes.use((envelopes) => envelopes.create({ name: "Own", agent_id: agentId, envelope }, ann))

describe("the gate of publication for an org unit and its agents", () => {
  for (const [name, from, to, action] of [
    [
      "bounds that end where the unit's integers do",
      denying("amount", { gt: 500 }),
      denying("amount", { between: [501, 1_000] }),
      { tool: "refund", amount: 900_000 }
    ],
    [
      "a list of all tools that the unit knows",
      denying("tool", { nin: ["search"] }),
      denying("tool", { in: ["refund"] }),
      { tool: "wire", amount: 1 }
    ]
  ] as const)
    it.effect(
      `asks for a second person where what is equal in the unit's words frees an agent that knows more: ${name}`,
      () =>
        Effect.gen(function* () {
          const envelopes = yield* Envelopes
          const { agentId, unitId } = yield* underUnit(from)
          yield* envelopes.update(unitId, { envelope: to }, ann)
          assert.strictEqual((yield* envelopes.publish(unitId, {}, ann)).change, "equal")
          yield* envelopes.update(unitId, { envelope: from }, ann)
          yield* envelopes.publish(unitId, {}, ann)
          yield* envelopes.publish((yield* ownEnvelope(agentId, wide)).id, {}, ben)
          assert.deepInclude(yield* ask(agentId, action), { outcome: "deny", matched_rule: "no" })
          yield* envelopes.update(unitId, { envelope: to }, ann)
          const refused = yield* Effect.flip(envelopes.publish(unitId, {}, ann))
          assert.strictEqual(refused._tag, "SecondApproverRequired")
          assert.match(
            refused._tag === "SecondApproverRequired" ? (refused.sentence ?? "") : "",
            /^With the envelope env_[0-9a-z]+ of an agent of this org unit: Newly allowed/
          )
          assert.strictEqual((yield* ask(agentId, action)).outcome, "deny")
          assert.strictEqual((yield* envelopes.publish(unitId, {}, ben)).change, "loosens")
        }).pipe(Effect.provide(governorWorld()))
    )

  it.effect("asks for a second person where a meter would belong to another envelope and restart", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId, unitId } = yield* underUnit(bounds())
      yield* envelopes.publish((yield* ownEnvelope(agentId, capped)).id, {}, ben)
      for (const outcome of ["allow", "allow", "deny"])
        assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, outcome)
      yield* envelopes.update(unitId, { envelope: bounds({ meters: budget }) }, ann)
      assert.strictEqual((yield* Effect.flip(envelopes.publish(unitId, {}, ann)))._tag, "SecondApproverRequired")
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, "deny")
      // Another name is another meter, and nobody's budget restarts.
      yield* envelopes.update(unitId, { envelope: bounds({ meters: { unit_spent: budget.spent } }) }, ann)
      assert.strictEqual((yield* envelopes.publish(unitId, {}, ann)).change, "equal")
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 500 })).outcome, "deny")
    }).pipe(Effect.provide(governorWorld()))
  )

  for (const [name, missing] of [
    ["requires", {}],
    ["counts as the greatest", { on_missing: 1_000 }],
    ["lets be absent", { optional: true }]
  ] as const) {
    it.effect(`lets no agent's layer say what stands in for a signal that the unit ${name}`, () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const { agentId } = yield* underUnit(
          bounds({
            signals: { tool, amount: { ...amount, ...missing } },
            rules: [{ id: "small", outcome: "allow", when: [{ signal: "amount", lte: 100 }] }]
          })
        )
        const before = yield* ask(agentId, { tool: "search" })
        const own = yield* ownEnvelope(agentId, bounds({ signals: { tool, amount: { ...amount, on_missing: 0 } } }))
        const published = yield* Effect.exit(envelopes.publish(own.id, {}, ann))
        assert.strictEqual(published._tag, name === "requires" ? "Success" : "Failure")
        const after = yield* ask(agentId, { tool: "search" })
        assert.deepStrictEqual([after.outcome, after.matched_rule], [before.outcome, before.matched_rule])
        assert.strictEqual(after.outcome, "deny")
      }).pipe(Effect.provide(governorWorld()))
    )
  }

  it.effect("takes a unit that requires a signal which its agents let be missing: it is denied then", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const lenient = bounds({ signals: { tool, amount: { ...amount, on_missing: 0 } } })
      const { agentId, unitId } = yield* underUnit(lenient)
      yield* envelopes.publish((yield* ownEnvelope(agentId, lenient)).id, {}, ben)
      assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "allow")
      yield* envelopes.update(unitId, { envelope: bounds() }, ann)
      yield* envelopes.publish(unitId, {}, ben)
      assert.deepInclude(yield* ask(agentId, { tool: "search" }), { outcome: "deny", matched_rule: "@missing_signal" })
    }).pipe(Effect.provide(governorWorld()))
  )
})

/** A rule that asks for a notice of refunds from an amount on; null: it says no time. */
const notice = (id: string, notice_ms: number | null, from = 500) => ({
  id,
  outcome: "allow_with_notice",
  when: [
    { signal: "tool", eq: "refund" },
    { signal: "amount", gte: from }
  ],
  ...(notice_ms === null ? {} : { notice_ms })
})
const noticed = (...notices: ReadonlyArray<object>) => ({ rules: [...rules, ...notices] })
const A_YEAR_MS = 31_622_400_000

describe("the gate of publication", () => {
  for (const [name, from, to] of [
    [
      "a notice that may take longer than the usual minute",
      noticed(notice("pay", null)),
      noticed(notice("pay", A_YEAR_MS))
    ],
    ["a longer notice", noticed(notice("pay", 1_000)), noticed(notice("pay", 1_001))],
    [
      "the usual minute where a shorter notice was requested",
      noticed(notice("pay", 1_000)),
      noticed(notice("pay", null))
    ],
    [
      "a second rule with a longer notice for the same actions",
      noticed(notice("pay", null)),
      noticed(notice("pay", null), notice("slow", A_YEAR_MS, 400))
    ],
    ["a longer notice than the tier floor's", {}, noticed(notice("slow", A_YEAR_MS))],
    [
      "a shorter notice that is gone",
      noticed(notice("fast", 1_000, 1_000), notice("pay", 5_000)),
      noticed(notice("pay", 5_000))
    ],
    [
      "another unit",
      { meters: {}, rules: rules.filter(({ id }) => id !== "cap") },
      {
        meters: {},
        rules: rules.filter(({ id }) => id !== "cap"),
        signals: { ...signals, amount: { ...signals.amount, unit: "JPY/1" } }
      }
    ],
    ["a shorter window", {}, { meters: { spent: { ...spent, window_ms: 1 } } }],
    ["other actions that count", {}, { meters: { spent: { ...spent, where: { tool: ["search"] } } } }],
    ["another key", {}, { meters: { spent: { ...spent, key: ["tool"] } } }],
    ["no reviewers", {}, { rules: rules.map(({ obligations: _, ...rule }) => rule) }],
    ["less for what is missing", { signals: { ...signals, amount: { ...signals.amount, on_missing: 100_000 } } }, {}],
    ["a signal that the caller says now", verified("server"), verified("caller")]
  ] as const)
    it.effect(`asks for a second person: ${name}`, () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const { envelopeId } = yield* governedAgent(refunds(from))
        yield* envelopes.update(envelopeId, { envelope: refunds(to) }, ann)
        assert.strictEqual((yield* Effect.flip(envelopes.publish(envelopeId, {}, ann)))._tag, "SecondApproverRequired")
        assert.strictEqual((yield* envelopes.publish(envelopeId, {}, ben)).change, "unknown")
      }).pipe(Effect.provide(governorWorld()))
    )

  for (const [name, from, to, change] of [
    ["a shorter notice", noticed(notice("pay", 1_001)), noticed(notice("pay", 1_000)), "equal"],
    [
      "a longer notice beside a shorter one, which holds",
      noticed(notice("pay", 1_000)),
      noticed(notice("slow", A_YEAR_MS, 1_000), notice("pay", 1_000)),
      "equal"
    ],
    [
      "a notice of what had none",
      { effects: { search: "read", refund: "read" } },
      { effects: { search: "read", refund: "read" }, rules: [...rules, notice("pay", A_YEAR_MS)] },
      "tightening_only"
    ]
  ] as const)
    it.effect(`lets one person publish ${name}`, () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const { envelopeId } = yield* governedAgent(refunds(from))
        yield* envelopes.update(envelopeId, { envelope: refunds(to) }, ann)
        assert.strictEqual((yield* envelopes.publish(envelopeId, {}, ann)).change, change)
      }).pipe(Effect.provide(governorWorld()))
    )

  it.effect("names what it asks a second person for: the time for a notice, and a unit", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { envelopeId } = yield* governedAgent(
        refunds({
          signals: {
            ...signals,
            fee: { type: "int", min: 0, max: 9, unit: "EUR/100", source: "caller", on_missing: 0 }
          }
        })
      )
      yield* envelopes.update(
        envelopeId,
        {
          envelope: refunds({
            ...noticed(notice("slow", 61_000)),
            signals: {
              ...signals,
              fee: { type: "int", min: 0, max: 9, unit: "JPY/1", source: "caller", on_missing: 0 }
            }
          })
        },
        ann
      )
      const refused = yield* Effect.flip(envelopes.publish(envelopeId, {}, ann))
      const sentence = refused._tag === "SecondApproverRequired" ? (refused.sentence ?? "") : ""
      assert.include(sentence, "more than 60000 ms")
      assert.match(sentence, /signal \{"name":"fee".*"unit":"EUR\/100"/)
      assert.match(sentence, /for example .*tool refund/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "asks for a second person where an org unit's notice is longer for an agent that has its own envelope",
    () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        // Of what the unit knows the shorter notice holds for all that the longer one concerns.
        const awaited = (notice_ms: number) =>
          bounds({
            rules: [
              anything,
              {
                id: "noticed",
                outcome: "allow_with_notice",
                when: [
                  { signal: "tool", nin: ["search"] },
                  { signal: "amount", gte: 500 }
                ],
                notice_ms
              },
              {
                id: "soon",
                outcome: "allow_with_notice",
                when: [
                  { signal: "tool", in: ["refund"] },
                  { signal: "amount", gte: 400 }
                ],
                notice_ms: 500
              }
            ]
          })
        const { agentId, unitId } = yield* underUnit(awaited(1_000))
        yield* envelopes.publish((yield* ownEnvelope(agentId, wide)).id, {}, ben)
        yield* envelopes.update(unitId, { envelope: awaited(2_000) }, ann)
        assert.strictEqual((yield* Effect.flip(envelopes.publish(unitId, {}, ann)))._tag, "SecondApproverRequired")
        yield* envelopes.update(unitId, { envelope: awaited(500) }, ann)
        assert.strictEqual((yield* envelopes.publish(unitId, {}, ann)).change, "equal")
      }).pipe(Effect.provide(governorWorld()))
  )

  for (const [name, amount, more] of [
    ["in force", { unit: "JPY/1" }, {}],
    ["without a unit", { unit: undefined }, {}],
    [
      "that is derived",
      { unit: "JPY/1" },
      {
        derived: { total: { fn: "product@1", args: ["amount", "pieces"] } },
        meters: { spent: { ...spent, of: "total" } }
      }
    ]
  ] as const)
    it.effect(`refuses another unit of what a meter adds up, and takes it under another name: ${name}`, () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const pieces = { type: "int", min: 0, max: 9, source: "caller", on_missing: 1 }
        const inEuros = refunds({ signals: { ...signals, pieces }, ...more })
        const inYen = {
          ...inEuros,
          signals: { ...signals, pieces, amount: JSON.parse(JSON.stringify({ ...signals.amount, ...amount })) }
        }
        const { agentId, envelopeId } = yield* governedAgent(inEuros)
        assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 2_000 })).outcome, "allow_with_notice")
        const refused = (envelope: { readonly [member: string]: unknown }, mode: "enforced" | "shadow") =>
          Effect.gen(function* () {
            yield* envelopes.update(envelopeId, { envelope }, ann)
            const refusal = yield* Effect.flip(envelopes.publish(envelopeId, { mode }, ben))
            const [finding] =
              refusal._tag === "EnvelopeNotPublishable"
                ? (refusal.findings as ReadonlyArray<{
                    readonly code: string
                    readonly path: string | null
                    readonly message: string
                  }>)
                : []
            assert.deepStrictEqual([finding?.code, finding?.path], ["E105", "/meters/spent"])
            assert.match(finding!.message, /another id/)
          })
        yield* refused(inYen, "enforced")
        yield* refused(inYen, "shadow")
        // A version between that does not have the meter does not empty its windows.
        yield* envelopes.update(
          envelopeId,
          { envelope: { ...inEuros, meters: {}, rules: rules.filter(({ id }) => id !== "cap") } },
          ann
        )
        yield* envelopes.publish(envelopeId, {}, ben)
        yield* refused(inYen, "enforced")
        const { spent: inEuro } = inEuros["meters"] as { readonly spent: object }
        const renamed = {
          ...inYen,
          meters: { spent_yen: inEuro },
          rules: rules.map((rule) =>
            rule.id === "cap" ? { ...rule, when: [{ meter: "spent_yen", after_gt: 10_000 }] } : rule
          )
        }
        yield* envelopes.update(envelopeId, { envelope: renamed }, ann)
        assert.strictEqual((yield* Effect.flip(envelopes.publish(envelopeId, {}, ann)))._tag, "SecondApproverRequired")
        yield* envelopes.publish(envelopeId, {}, ben)
        assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], {
          id: "spent_yen",
          value: 0
        })
      }).pipe(Effect.provide(governorWorld()))
    )

  it.effect("shows an evaluation that was made before only in scope", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent()
      const input = { agent_id: agentId, client_ref: "same", signals: { tool: "search" } }
      yield* evaluations.evaluate(input, key)
      for (const signals of [input.signals, {}])
        assert.strictEqual(
          (yield* Effect.flip(evaluations.evaluate({ ...input, signals }, key, { orgUnits: ["sales"] })))._tag,
          "AgentNotFound"
        )
    }).pipe(Effect.provide(governorWorld()))
  )
})
