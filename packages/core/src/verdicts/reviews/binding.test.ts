/** The binding of an approval, beside the digest of the arguments. */
import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes } from "@flyball/evidence"
import { Recomputation, type Recomputed, type ReplayRecord } from "@flyball/rules"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { recorded } from "../../testing/recorded.ts"
import { Agents } from "../../registry/agents/service.ts"
import { ann, ask as evaluate, ben, governedAgent, recomputed, refunds } from "../evaluations/testing/refunds.ts"
import { Drills } from "../drills/service.ts"
import { Evaluations } from "../evaluations/service.ts"
import { Kill } from "../kill/service.ts"
import { type ReviewingPerson, Reviews } from "./service.ts"

const person = (last: number, role: string): ReviewingPerson => ({
  writer: { id: `usr_${"0".repeat(25)}${last}` },
  grants: [{ role, orgUnit: "*" }],
  email: null
})
const rules = refunds({}, 1_000_000)["rules"] as ReadonlyArray<{ readonly id: string; readonly when: object[] }>

/** Refunds over 2,000 and searches need a reviewer. */
const envelope = refunds(
  {
    rules: [
      { id: "search", outcome: "require_review", when: [{ signal: "tool", in: ["search"] }] },
      ...rules
        .filter(({ id }) => id !== "search")
        .map((rule) => (rule.id === "large" ? { id: "large", outcome: "require_review", when: rule.when } : rule))
    ]
  },
  1_000_000
)

/** The same; of runs that met strangers' words two governors. */
const tainting = {
  ...envelope,
  signals: {
    ...(envelope["signals"] as object),
    untrusted: { type: "bool", source: "caller", on_missing: false },
    tainted: { type: "bool", source: "latch", set_by: "untrusted" }
  },
  rules: [
    ...(envelope["rules"] as ReadonlyArray<object>),
    {
      id: "huge",
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "tainted", is: true }
      ],
      obligations: [{ type: "reviewers", role: "governor", approvals: 2, ttl_ms: 3_600_000 }]
    }
  ]
}

const large = { tool: "refund", amount: 5_000 }
const refund = (agentId: string, signals: object, more: Parameters<typeof evaluate>[2] = {}) =>
  evaluate(agentId, { ...signals }, { args: large, action: "refund", ...more })
const approved = (id: string, by = person(4, "reviewer")) =>
  Reviews.use((reviews) => reviews.resolve(id, { resolution: "approve", reason: "seen" }, by))
const reviewOf = (id: string) => Reviews.use((reviews) => reviews.get(id))

const wrong = ({ verdict }: Recomputed) => verdict !== "ok" && verdict !== "withheld" && verdict !== "as_recorded"
const replayed = (records: ReadonlyArray<ReplayRecord>, fromGenesis = true): ReadonlyArray<Recomputed> => {
  const again = new Recomputation({ fromGenesis })
  return records.flatMap((record) => again.take(record) ?? [])
}

/** Live state and replay agree; a pack that begins with any of the records calls none of them wrong. */
const agrees = Effect.gen(function* () {
  assert.deepStrictEqual((yield* (yield* Replay).check).differences, [])
  const records = yield* recorded
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
  for (let from = 1; from < records.length; from++)
    assert.deepStrictEqual([from, ...replayed(records.slice(from), false).filter(wrong)], [from])
  return records
})

const world = () => Effect.provide(governorWorld())

describe("an approval", () => {
  it.effect("counts for the action and the signals that people saw, and nothing else burns it", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const { review_id: id } = yield* refund(agentId, large)
      yield* approved(id!)
      const again = { approval_id: id! }
      for (const [signals, more] of [
        [large, { action: "refund_all" }],
        [large, { action: null }],
        [{ tool: "search" }, {}],
        [{ ...large, amount: 60_000 }, {}]
      ] as const) {
        const other = yield* refund(agentId, signals, { ...again, ...more })
        assert.deepInclude(other, { outcome: "require_review", review_id: `rev_${other.id.slice(4)}` })
      }
      assert.isNull((yield* reviewOf(id!)).consumed_by)
      const used = yield* refund(agentId, { amount: 5_000, tool: "refund" }, again)
      assert.deepInclude(used, { outcome: "allow", matched_rule: "large" })
      const explained = yield* Evaluations.use((evaluations) => evaluations.explain(used.id))
      const { id: by } = person(4, "reviewer").writer
      assert.deepStrictEqual(explained.approval, { review_id: id, standing_approval_id: null, approved_by: [by] })
      assert.include(explained.sentence, `It asks for a review; ${id}, approved by ${by}, let the action through.`)
      const records = yield* agrees

      const renamed = records.map((record) =>
        record.body["review_id"] === id && record.kind === "evaluation.made" && record.body["approval_id"] !== id
          ? {
              ...record,
              parts: new Map(record.parts).set("action", { state: "present", bytes: canonicalBytes("refund_all") })
            }
          : record
      )
      const found = replayed(renamed).filter(wrong)
      assert.include(
        found.map(({ evaluationId, verdict }) => `${evaluationId} ${verdict}`),
        `${used.id} approved_other_action`
      )
      const enlarged = records.map((record) =>
        record.body["review_id"] === id && record.kind === "evaluation.made"
          ? {
              ...record,
              parts: new Map(record.parts).set("signals", {
                state: "present",
                bytes: canonicalBytes({ tool: "refund", amount: 60_000 })
              })
            }
          : record
      )
      assert.deepInclude(
        replayed(enlarged).find(({ evaluationId }) => evaluationId === used.id),
        { verdict: "approved_other_action" }
      )
    }).pipe(world())
  )

  it.effect("is voided where the verdict asks for more people than approved", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(tainting)
      const { review_id: id } = yield* refund(agentId, large, { run_id: "clean" })
      yield* approved(id!)
      yield* evaluate(agentId, { tool: "search", untrusted: true }, { run_id: "met" })
      const huge = yield* refund(agentId, large, { approval_id: id!, run_id: "met" })
      assert.deepInclude(huge, { outcome: "require_review", review_id: `rev_${huge.id.slice(4)}` })
      assert.deepInclude(yield* reviewOf(id!), { consumed_by: huge.id, consumed_result: "voided" })
      for (const last of [5, 6]) yield* approved(huge.review_id!, person(last, "governor"))
      const milder = yield* refund(agentId, large, { approval_id: huge.review_id!, run_id: "clean" })
      assert.deepInclude(milder, { outcome: "allow", matched_rule: "large" })
      const records = yield* agrees

      const allowed = replayed(
        records.map((record) => {
          if (record.kind !== "evaluation.made" || record.body["evaluation_id"] !== huge.id) return record
          const { review_id: _, ...body } = record.body
          return { ...record, body: { ...body, outcome: "allow" } }
        })
      )
      assert.deepInclude(
        allowed.find(({ evaluationId }) => evaluationId === huge.id),
        { verdict: "review_mismatch" }
      )
    }).pipe(world())
  )

  it.effect("counts for nothing once what people saw is erased, and what it allowed before is not called wrong", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const other = { ...large, amount: 6_000 }
      const [first, second] = [yield* refund(agentId, large), yield* refund(agentId, other)]
      for (const { review_id: id } of [first, second]) yield* approved(id!)
      assert.deepInclude(yield* refund(agentId, large, { approval_id: first.review_id! }), { outcome: "allow" })
      const erasure = yield* Erasure
      for (const { seq } of [first, second])
        yield* erasure.erase({ seq, name: "action", reason: "legal_order" }, { id: `usr_${"0".repeat(25)}9` })
      const after = yield* refund(agentId, other, { approval_id: second.review_id! })
      assert.deepInclude(after, { outcome: "require_review", review_id: `rev_${after.id.slice(4)}` })
      const again = yield* refund(agentId, large, { approval_id: first.review_id! })
      assert.deepInclude(again, { outcome: "require_review" })
      assert.deepStrictEqual(replayed(yield* recorded).filter(wrong), [])
    }).pipe(world())
  )

  it.effect("survives the erasure of arguments that their digest still names, and not of redacted ones", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const redacted = { args_redacted: true, action_digest: `sha256:${"0a".repeat(32)}` }
      const erasure = yield* Erasure
      for (const [more, outcome] of [
        [{}, "allow"],
        [redacted, "require_review"]
      ] as const) {
        const { review_id, seq } = yield* refund(agentId, large, more)
        yield* approved(review_id!)
        yield* erasure.erase({ seq, name: "args", reason: "legal_order" }, { id: `usr_${"0".repeat(25)}9` })
        assert.deepInclude(yield* refund(agentId, large, { ...more, approval_id: review_id! }), { outcome })
      }
      assert.deepStrictEqual(replayed(yield* recorded).filter(wrong), [])
    }).pipe(world())
  )

  it.effect("is found by the same question: one review, and answers name the review until it is used", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const reviews = yield* Reviews
      const [first, twin] = yield* Effect.all([refund(agentId, large), refund(agentId, large)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(twin.review_id, first.review_id)
      const found = (action_digest: string) => reviews.list({ action_digest })
      assert.deepStrictEqual(
        (yield* found(first.action_digest!)).map(({ id }) => id),
        [first.review_id]
      )
      yield* approved(first.review_id!)
      assert.strictEqual((yield* refund(agentId, large)).review_id, first.review_id)
      assert.deepInclude(yield* refund(agentId, large, { approval_id: first.review_id! }), { outcome: "allow" })
      assert.deepStrictEqual(yield* found(first.action_digest!), [])
      const later = yield* refund(agentId, large)
      assert.strictEqual(later.review_id, `rev_${later.id.slice(4)}`)
      yield* TestClock.adjust("25 hours")
      const next = yield* refund(agentId, large)
      assert.strictEqual(next.review_id, `rev_${next.id.slice(4)}`)
      assert.deepInclude(yield* reviewOf(later.review_id!), { status: "expired" })
      assert.lengthOf(yield* reviews.list({ status: "expired" }), 1)
      yield* agrees
    }).pipe(world())
  )

  it.effect("is not burned by an attempt during a halt, a drill or a suspension", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const { review_id: id } = yield* refund(agentId, large)
      yield* approved(id!)
      const kills = yield* Kill
      const again = { approval_id: id! }
      const target = { target_type: "agent", target_id: agentId } as const
      for (const stop of [
        kills.activate({ ...target, response: "halt", reason: "seen" }, ben),
        Drills.use((drills) => drills.start({ ...target, mode: "live", scenario: "A drill.", slo_ms: 1_000 }, ben))
      ]) {
        const { activation_event } = yield* stop
        assert.deepInclude(yield* refund(agentId, large, again), { outcome: "deny", matched_rule: "@killed" })
        yield* kills.release({ activation_event: activation_event!, reason: "over" }, ann)
      }
      const agents = yield* Agents
      yield* agents.suspend(agentId, {}, ben)
      assert.deepInclude(yield* refund(agentId, large, again), { outcome: "deny" })
      yield* agents.activate(agentId, ben)
      assert.deepInclude(yield* refund(agentId, large, again), { outcome: "allow" })
      yield* agrees
    }).pipe(world())
  )

  it.effect(
    "its one action: what a run met stays, so that the next one needs a review again, in another run none",
    () =>
      Effect.gen(function* () {
        const { signals } = refunds()
        const { agentId } = yield* governedAgent(
          refunds({
            signals: {
              ...(signals as object),
              untrusted: { type: "bool", source: "caller", on_missing: false },
              tainted: { type: "bool", source: "latch", set_by: "untrusted" }
            },
            rules: [
              ...(refunds()["rules"] as ReadonlyArray<object>),
              { id: "tainted", outcome: "require_review", when: [{ signal: "tainted", is: true }] }
            ]
          })
        )
        const small = { tool: "refund", amount: 10 }
        const inRun = (run_id: string, more: Parameters<typeof evaluate>[2] = {}) =>
          evaluate(agentId, small, { run_id, args: small, ...more })
        yield* evaluate(agentId, { ...small, untrusted: true }, { run_id: "one", args: small })
        const { review_id: reviewId } = yield* inRun("one")
        yield* approved(reviewId!)
        const outcomes = [
          yield* inRun("one", { approval_id: reviewId! }),
          yield* inRun("one", { approval_id: reviewId! }),
          yield* inRun("two")
        ].map(({ matched_rule, outcome }) => [outcome, matched_rule])
        assert.deepStrictEqual(outcomes, [
          ["allow", "tainted"],
          ["require_review", "tainted"],
          ["allow_with_notice", "@tier_floor"]
        ])
        yield* agrees
      }).pipe(Effect.provide(governorWorld()))
  )
})
