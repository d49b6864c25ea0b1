/** What an approval is bound to, beside the digest of the arguments. */
import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes } from "@flyball/evidence"
import { type JsonMap, Recomputation, type Recomputed, type ReplayRecord } from "@flyball/rules"
import { Effect } from "effect"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { recorded } from "../../testing/recorded.ts"
import { ask as evaluate, governedAgent, recomputed, refunds } from "../evaluations/testing/refunds.ts"
import { type ReviewingPerson, Reviews } from "./service.ts"

const person = (last: number, role: string): ReviewingPerson => ({
  writer: { id: `usr_${"0".repeat(25)}${last}` },
  grants: [{ role, orgUnit: "*" }],
  email: null
})
const rules = refunds({}, 1_000_000)["rules"] as ReadonlyArray<{ readonly id: string; readonly when: object[] }>

/** Refunds over 2,000 need a reviewer, over 20,000 two governors; searches need a reviewer. */
const envelope = refunds(
  {
    rules: [
      { id: "search", outcome: "require_review", when: [{ signal: "tool", in: ["search"] }] },
      ...rules
        .filter(({ id }) => id !== "search")
        .map((rule) =>
          rule.id === "large"
            ? { id: "large", outcome: "require_review", when: [...rule.when, { signal: "amount", lte: 20_000 }] }
            : rule
        ),
      {
        id: "huge",
        outcome: "require_review",
        when: [
          { signal: "tool", in: ["refund"] },
          { signal: "amount", gt: 20_000 }
        ],
        obligations: [{ type: "reviewers", role: "governor", approvals: 2, ttl_ms: 3_600_000 }]
      }
    ]
  },
  1_000_000
)

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
  it.effect("counts for the action and the tool that people saw, whatever the arguments", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const { review_id: id } = yield* refund(agentId, large)
      yield* approved(id!)
      const again = { approval_id: id! }
      for (const [signals, more] of [
        [large, { action: "refund_all" }],
        [large, { action: null }],
        [{ tool: "search" }, {}]
      ] as const) {
        const other = yield* refund(agentId, signals, { ...again, ...more })
        assert.deepInclude(other, { outcome: "require_review", review_id: `rev_${other.id.slice(4)}` })
      }
      assert.isNull((yield* reviewOf(id!)).consumed_by)
      const used = yield* refund(agentId, { ...large, amount: 6_000 }, again)
      assert.deepInclude(used, { outcome: "allow", matched_rule: "large" })
      const records = yield* agrees

      const renamed = (made: JsonMap) =>
        records.map((record) =>
          record.body["review_id"] === id && record.kind === "evaluation.made" && record.body["approval_id"] !== id
            ? {
                ...record,
                parts: new Map(record.parts).set("action", { state: "present", bytes: canonicalBytes("refund_all") })
              }
            : record.body["evaluation_id"] === used.id && record.kind === "evaluation.made"
              ? { ...record, body: { ...record.body, ...made } }
              : record
        )
      const found = replayed(renamed({})).filter(wrong)
      assert.include(
        found.map(({ evaluationId, verdict }) => `${evaluationId} ${verdict}`),
        `${used.id} approved_other_action`
      )
      // Rules 4 compared the digest alone.
      assert.notInclude(
        replayed(renamed({ rules: 4 })).map(({ evaluationId, verdict }) => `${evaluationId} ${verdict}`),
        `${used.id} approved_other_action`
      )
    }).pipe(world())
  )

  it.effect("is voided where the verdict asks for more people than approved", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const { review_id: id } = yield* refund(agentId, large)
      yield* approved(id!)
      const huge = yield* refund(agentId, { ...large, amount: 50_000 }, { approval_id: id! })
      assert.deepInclude(huge, {
        outcome: "require_review",
        matched_rule: "huge",
        review_id: `rev_${huge.id.slice(4)}`
      })
      assert.deepInclude(yield* reviewOf(id!), { consumed_by: huge.id, consumed_result: "voided" })
      for (const last of [5, 6]) yield* approved(huge.review_id!, person(last, "governor"))
      const milder = yield* refund(agentId, large, { approval_id: huge.review_id! })
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
      const [first, second] = [yield* refund(agentId, large), yield* refund(agentId, large)]
      for (const { review_id: id } of [first, second]) yield* approved(id!)
      assert.deepInclude(yield* refund(agentId, large, { approval_id: first.review_id! }), { outcome: "allow" })
      const erasure = yield* Erasure
      for (const { seq } of [first, second])
        yield* erasure.erase({ seq, name: "action", reason: "legal_order" }, { id: `usr_${"0".repeat(25)}9` })
      const after = yield* refund(agentId, large, { approval_id: second.review_id! })
      assert.deepInclude(after, { outcome: "require_review", review_id: `rev_${after.id.slice(4)}` })
      const again = yield* refund(agentId, large, { approval_id: first.review_id! })
      assert.deepInclude(again, { outcome: "require_review" })
      assert.deepStrictEqual(replayed(yield* recorded).filter(wrong), [])
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
