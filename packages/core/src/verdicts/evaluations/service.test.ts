import { assert, describe, it } from "@effect/vitest"
import { RawJson, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AGENTS } from "../../registry/agents/document.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Capture } from "../capture/service.ts"
import { Envelopes } from "../envelopes/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, ben, governedAgent, key, recomputed, refunds } from "./testing/refunds.ts"

const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})
const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
const headSeq = Storage.use((storage) => Effect.map(storage.head, (head) => head!.seq))

describe("evaluating", () => {
  it.effect("answers the verdict with all that led to it, and the record says the same", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const made = yield* ask(
        agentId,
        { tool: "refund", amount: 1_500 },
        { action: "issue_refund", run_id: "run-1", instance_id: "pod-7" }
      )
      assert.deepInclude(made, {
        agent_id: agentId,
        envelope_id: envelopeId,
        envelope_version: 1,
        outcome: "allow_with_notice",
        mode: "enforced",
        decided_by: "server",
        tier: "L2",
        action: "issue_refund",
        instance_id: "pod-7",
        signals: { tool: "refund", amount: 1_500 }
      })
      assert.strictEqual(made.matched_rule, "@tier_floor")
      assert.deepInclude(made.meters[0], { id: "spent", value: 0, after: 1_500, reserved: true })
      assert.strictEqual(made.notice_ms, 60_000)
      assert.deepInclude(
        made.trace.find(({ id }) => id === "large"),
        { result: "miss", failed_on: "amount" }
      )
      assert.deepStrictEqual(yield* Evaluations.use((evaluations) => evaluations.get(made.id)), made)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is bounded by the day, whatever single refunds are allowed", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const outcomes: Array<string> = []
      for (let time = 0; time < 6; time++)
        outcomes.push((yield* ask(agentId, { tool: "refund", amount: 2_000 })).matched_rule)
      assert.deepStrictEqual(outcomes, [...Array.from({ length: 5 }, () => "@tier_floor"), "cap"])
      assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "allow")
      yield* TestClock.adjust(86_400_000)
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 2_000 })).outcome, "allow_with_notice")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("never passes a cap, however many ask at once, and shares commits", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => ask(agentId, { tool: "refund", amount: 300 })),
        { concurrency: "unbounded" }
      )
      const through = answers.filter(({ outcome }) => outcome === "allow_with_notice")
      assert.strictEqual(through.length, 33)
      assert.deepStrictEqual(
        through.map(({ meters: [meter] }) => meter!.after).sort((a, b) => a - b),
        Array.from({ length: 33 }, (_, place) => (place + 1) * 300)
      )
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("makes again what a batch planned on two readings of one agent", () => {
    let then: Effect.Effect<unknown, unknown> = Effect.void
    let between: Effect.Effect<unknown, unknown> = Effect.void
    const once = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.andThen(
        Effect.sync(() => (between = Effect.void)),
        Effect.orDie(effect)
      )
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      get: (collection, id) =>
        Effect.tap(storage.get(collection, id), () => (collection === AGENTS ? once(between) : Effect.void)),
      // While this one commits, the others gather; the agent changes between the first two readings for them.
      commit: (change) =>
        change.records?.[0]?.kind !== "evaluation.made"
          ? storage.commit(change)
          : Effect.andThen(
              Effect.repeat(Effect.yieldNow, { times: 20 }),
              Effect.tap(storage.commit(change), () => {
                between = then
                then = Effect.void
                return Effect.void
              })
            )
    })
    return Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent()
      then = agents.suspend(agentId, {}, ben)
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => ask(agentId, { tool: "refund", amount: 1 })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map(({ matched_rule }) => matched_rule),
        ["@tier_floor", "@suspended", "@suspended", "@suspended"]
      )
      yield* sound
    }).pipe(Effect.provide(governorWorld(wrap)))
  })

  it.effect("answers the first again under the same reference, and refuses other content", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent()
      const requested = { agent_id: agentId, client_ref: "once", signals: { tool: "refund", amount: 10 } }
      const [first, twin] = yield* Effect.all(
        [evaluations.evaluate(requested, key), evaluations.evaluate(requested, key)],
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(twin, first)
      yield* TestClock.adjust(5_000)
      assert.deepStrictEqual(
        yield* evaluations.evaluate({ ...requested, signals: { amount: 10, tool: "refund" } }, ben),
        first
      )
      for (const other of [
        { ...requested, signals: { tool: "refund", amount: 11 } },
        { ...requested, run_id: "x" },
        { ...requested, instance_id: "x" },
        { ...requested, action: "x" }
      ])
        assert.strictEqual(yield* tag(evaluations.evaluate(other, key)), "ClientRefReused")
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 0 })).meters[0]!.value, 10)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("denies by a reserved name where nothing can be decided", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const rule = (signals: { readonly [name: string]: unknown }) =>
        Effect.map(ask(agentId, signals), ({ matched_rule, outcome }) => [outcome, matched_rule])
      assert.deepStrictEqual(yield* rule({ tool: "refund", amount: 1, note: "x" }), ["deny", "@invalid_signal"])
      assert.deepStrictEqual(yield* rule({ tool: "sell" }), ["deny", "@invalid_signal"])
      assert.deepStrictEqual(yield* rule({ amount: 1 }), ["deny", "@missing_signal"])
      const other = yield* registered("nobody's", "ops")
      const draft = yield* ask(other.id, {})
      assert.deepInclude(draft, { outcome: "deny", matched_rule: "@not_active", agent_status: "draft" })
      assert.deepInclude(draft.trace.at(-1)!, { step: "agent", id: "@not_active", result: "hit" })
      yield* Agents.use((agents) => agents.activate(other.id, ben))
      assert.deepInclude(yield* ask(other.id, {}), {
        outcome: "deny",
        matched_rule: "@no_envelope",
        envelope_id: null,
        envelope_version: null
      })
      yield* Agents.use((agents) => agents.suspend(agentId, {}, ben))
      assert.deepStrictEqual(yield* rule({ tool: "search" }), ["deny", "@suspended"])
      yield* Agents.use((agents) => agents.decommission(other.id, ben))
      assert.strictEqual((yield* ask(other.id, {})).matched_rule, "@not_active")
      yield* Agents.use((agents) => agents.activate(agentId, ben))
      yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
      assert.deepStrictEqual(yield* rule({ tool: "search" }), ["deny", "@no_envelope"])
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("sees only agents in scope", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, { tool: "search" })
      const scope = { orgUnits: ["sales"] }
      const seq = yield* headSeq
      assert.strictEqual(
        yield* tag(evaluations.evaluate({ agent_id: agentId, client_ref: "x", signals: {} }, key, scope)),
        "AgentNotFound"
      )
      assert.strictEqual(yield* tag(evaluations.get(made.id, scope)), "EvaluationNotFound")
      assert.strictEqual(yield* tag(evaluations.explain(made.id, scope)), "EvaluationNotFound")
      assert.strictEqual(yield* tag(evaluations.void(made.id, {}, ann, scope)), "EvaluationNotFound")
      for (const id of ["", "evl_1", `evl_${"0".repeat(26)}`])
        assert.strictEqual(yield* tag(evaluations.get(id)), "EvaluationNotFound")
      assert.strictEqual(yield* headSeq, seq)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("explains which changes would give a less restrictive outcome", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent()
      const large = yield* ask(agentId, { tool: "refund", amount: 5_000 })
      assert.deepInclude(large, {
        outcome: "require_review",
        matched_rule: "large",
        obligations: [{ type: "reviewers", role: "treasury", approvals: 1, ttl_ms: 3_600_000 }]
      })
      const { nearest, reason } = yield* evaluations.explain(large.id)
      assert.isNull(reason)
      assert.deepInclude(nearest, {
        outcome: "allow_with_notice",
        changes: [{ signal: "amount", source: "caller", from: 0, to: 2_000, interval: { at_least: 0, at_most: 2_000 } }]
      })
      assert.deepInclude(yield* evaluations.explain((yield* ask(agentId, { tool: "sell" })).id), {
        nearest: null,
        reason: "no_cell"
      })
      assert.deepInclude(yield* evaluations.explain((yield* ask(agentId, { tool: "search" })).id), {
        nearest: null,
        reason: "least_restrictive"
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("returns the reservation of an action that was not taken, once", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, { tool: "refund", amount: 2_000 })
      const { duplicate, seq } = yield* evaluations.void(made.id, { reason: "The order was cancelled." }, ben)
      assert.isFalse(duplicate)
      assert.deepInclude(yield* evaluations.void(made.id, {}, ann), { duplicate: true, seq })
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], { value: 0, after: 1 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("counts what a settled decision came to, and takes nothing else for it", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, { tool: "refund", amount: 2_000 })
      const witness = (client_ref: string, evaluation_id: string | null) =>
        Effect.map(
          capture.witness(
            agentId,
            [{ client_ref, kind: "tool_call", action: "refund", status: "intended", evaluation_id }],
            key
          ),
          ({ receipts: [receipt] }) => receipt!.decision_id
        )
      const decision = yield* witness("d1", made.id)
      const settle = (id: string, actual: ReadonlyArray<{ readonly meter: string; readonly amount: number }>) =>
        capture.settle(id, { status: "ok", actual }, ben)
      for (const wrong of [
        [{ meter: "other", amount: 1 }],
        [{ meter: "spent", amount: 100_001 }],
        [
          { meter: "spent", amount: 1 },
          { meter: "spent", amount: 2 }
        ]
      ])
        assert.strictEqual(yield* tag(settle(decision, wrong)), "InvalidInput")
      assert.strictEqual(
        yield* tag(settle(yield* witness("d2", null), [{ meter: "spent", amount: 1 }])),
        "InvalidInput"
      )
      const { seq } = yield* settle(decision, [{ meter: "spent", amount: 1_234 }])
      assert.deepInclude(yield* settle(decision, [{ meter: "spent", amount: 1_234 }]), { duplicate: true, seq })
      assert.strictEqual(yield* tag(settle(decision, [{ meter: "spent", amount: 1_235 }])), "DecisionAlreadySettled")
      // Neither another decision nor a void gives back what was spent, and nothing is settled under what is void.
      assert.strictEqual(
        yield* tag(settle(yield* witness("d3", made.id), [{ meter: "spent", amount: 0 }])),
        "EvaluationEnded"
      )
      assert.deepInclude(yield* Effect.flip(Evaluations.use((evaluations) => evaluations.void(made.id, {}, ben))), {
        _tag: "EvaluationEnded",
        how: "settled"
      })
      const undone = yield* ask(agentId, { tool: "refund", amount: 7 })
      yield* Evaluations.use((evaluations) => evaluations.void(undone.id, {}, ben))
      assert.deepInclude(yield* Effect.flip(settle(yield* witness("d4", undone.id), [{ meter: "spent", amount: 7 }])), {
        _tag: "EvaluationEnded",
        how: "void"
      })
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], { value: 1_234, after: 1_235 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("refuses an ingest key that lowers a reservation, and accepts a higher amount", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const evaluations = yield* Evaluations
      const { agentId } = yield* governedAgent({
        ...refunds(),
        meters: {
          ...(refunds()["meters"] as object),
          times: { op: "count", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] }
        }
      })
      let through = 0
      for (let n = 0; n < 8; n++) {
        const made = yield* ask(agentId, { tool: "refund", amount: 2_000 })
        if (made.outcome === "deny") {
          // Nothing was added, so nothing is taken away, and no record says that it was.
          const seq = yield* headSeq
          assert.strictEqual(yield* tag(evaluations.void(made.id, {}, ben)), "NothingToVoid")
          assert.strictEqual(yield* headSeq, seq)
          continue
        }
        through += 2_000
        const {
          receipts: [receipt]
        } = yield* capture.witness(
          agentId,
          [{ client_ref: `d${n}`, kind: "tool_call", action: "refund", status: "intended", evaluation_id: made.id }],
          key
        )
        const settle = (meter: string, amount: number, status: "ok" | "error") =>
          capture.settle(receipt!.decision_id, { status, actual: [{ meter, amount }] }, key)
        const seq = yield* headSeq
        for (const status of ["ok", "error"] as const) {
          assert.deepInclude(yield* Effect.flip(settle("spent", 1_999, status)), {
            _tag: "SettleBelowReserved",
            meter: "spent",
            reserved: 2_000
          })
          assert.strictEqual(yield* tag(settle("times", 0, status)), "SettleBelowReserved")
        }
        assert.strictEqual(yield* tag(evaluations.void(made.id, {}, key)), "InvalidInput")
        assert.strictEqual(yield* headSeq, seq)
        yield* settle("spent", n === 0 ? 2_500 : 2_000, "ok")
      }
      assert.strictEqual(through, 8_000)
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], { value: 8_500, after: 8_501 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("records and checks the settlement as it was at the call, whatever the caller does to it", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const { agentId } = yield* governedAgent()
      const made = yield* ask(agentId, { tool: "refund", amount: 2_000 })
      const {
        receipts: [receipt]
      } = yield* capture.witness(
        agentId,
        [{ client_ref: "d", kind: "tool_call", action: "refund", status: "intended", evaluation_id: made.id }],
        key
      )
      let reads = 0
      const actual = [
        {
          meter: "spent",
          get amount() {
            return reads++ === 0 ? 2_000 : 0
          }
        }
      ]
      yield* capture.settle(receipt!.decision_id, { status: "ok", actual }, key)
      assert.deepInclude((yield* ask(agentId, { tool: "refund", amount: 1 })).meters[0], { value: 2_000 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("explains by the latches as they were, whatever its run has set since", () =>
    Effect.gen(function* () {
      const evaluations = yield* Evaluations
      const { rules, signals, ...rest } = refunds() as {
        readonly rules: ReadonlyArray<object>
        readonly signals: object
      }
      const { agentId } = yield* governedAgent({
        ...rest,
        signals: {
          ...signals,
          untrusted: { type: "bool", source: "caller", on_missing: false },
          tainted: { type: "bool", source: "latch", set_by: "untrusted" }
        },
        rules: [...rules, { id: "tainted", outcome: "deny", when: [{ signal: "tainted", is: true }] }]
      })
      const ask2 = (more: object) => ask(agentId, { tool: "refund", amount: 5_000, ...more }, { run_id: "a" })
      const [before, sets, after] = [
        yield* ask2({}),
        yield* ask2({ untrusted: true }),
        yield* ask2({ untrusted: true })
      ]
      assert.deepStrictEqual(
        [before, sets, after].map(({ matched_rule }) => matched_rule),
        ["large", "large", "tainted"]
      )
      const reasons = yield* Effect.forEach([before, sets, after], ({ id }) =>
        Effect.map(evaluations.explain(id), ({ reason }) => reason)
      )
      // What is tainted is denied, whatever else were otherwise.
      assert.deepStrictEqual(reasons, [null, null, "none"])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("remembers in a run what a latch was set by, and asks for the run", () =>
    Effect.gen(function* () {
      const { rules, signals, ...rest } = refunds() as {
        readonly rules: ReadonlyArray<object>
        readonly signals: object
      }
      const { agentId } = yield* governedAgent({
        ...rest,
        signals: {
          ...signals,
          untrusted: { type: "bool", source: "caller", on_missing: false },
          tainted: { type: "bool", source: "latch", set_by: "untrusted" }
        },
        rules: [
          ...rules,
          {
            id: "tainted",
            outcome: "deny",
            when: [
              { signal: "tainted", is: true },
              { signal: "tool", in: ["refund"] }
            ]
          }
        ]
      })
      const rule = (run_id: string | null, more: object = {}) =>
        Effect.map(ask(agentId, { tool: "refund", amount: 1, ...more }, { run_id }), ({ matched_rule }) => matched_rule)
      assert.strictEqual(yield* rule(null), "@missing_signal")
      assert.strictEqual(yield* rule("a", { untrusted: true }), "@tier_floor")
      assert.strictEqual(yield* rule("a"), "tainted")
      assert.strictEqual(yield* rule("b"), "@tier_floor")
      const both = yield* Effect.all([rule("c", { untrusted: true }), rule("c")], { concurrency: "unbounded" })
      assert.deepStrictEqual(both, ["@tier_floor", "tainted"])
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "sets a latch where another signal is no number of the language, in whatever order they came, and never by null",
    () =>
      Effect.gen(function* () {
        const { agentId } = yield* governedAgent({
          semantics: "envelope/1",
          effects: { "*": "read" },
          default: { outcome: "deny" },
          rules: [
            { id: "tainted", outcome: "halt", when: [{ signal: "tainted", is: true }] },
            { id: "all", outcome: "allow", when: [] }
          ],
          signals: {
            b: { type: "bool", source: "caller", on_missing: true },
            x: { type: "int", min: 0, max: 9, source: "caller" },
            tainted: { type: "bool", source: "latch", set_by: "b" }
          }
        })
        const rules = (run_id: string, text: string) =>
          Effect.gen(function* () {
            const first = yield* ask(agentId, new RawJson(utf8(text)) as never, { run_id })
            const next = yield* ask(agentId, { b: false, x: 1 }, { run_id })
            return [first.matched_rule, first.trace.at(-1)?.id, next.matched_rule]
          })
        assert.deepStrictEqual(yield* rules("a", `{"b":true,"x":9007199254740992}`), [
          "@invalid_signal",
          "x",
          "tainted"
        ])
        assert.deepStrictEqual(yield* rules("b", `{"x":9007199254740992,"b":true}`), [
          "@invalid_signal",
          "x",
          "tainted"
        ])
        assert.deepStrictEqual(yield* rules("c", `{"b":true,"x":9007199254740993}`), [
          "@invalid_signal",
          "x",
          "tainted"
        ])
        assert.deepStrictEqual(yield* rules("d", `{"b":null,"x":1}`), ["@invalid_signal", "b", "all"])
        yield* sound
      }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("records every latch that both of an agent's envelopes set at once", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { signals, ...rest } = refunds() as { readonly signals: object }
      const tainting = (prefix: string, count: number) => ({
        ...rest,
        signals: {
          ...signals,
          untrusted: { type: "bool", source: "caller", on_missing: false },
          ...Object.fromEntries(
            Array.from({ length: count }, (_, at) => [
              `${prefix}${at}`,
              { type: "bool", source: "latch", set_by: "untrusted" }
            ])
          )
        }
      })
      const { agentId } = yield* governedAgent(tainting("own_", 60))
      const { id } = yield* envelopes.create({ name: "Unit", org_unit: "ops", envelope: tainting("unit_", 50) }, ann)
      yield* envelopes.publish(id, {}, ben)
      yield* ask(agentId, { tool: "refund", amount: 1, untrusted: true }, { run_id: "a" })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})
