import { assert, describe, it } from "@effect/vitest"
import type { FairnessScreenIn } from "@flyball/contract"
import { Effect } from "effect"
import { unitScope } from "../../foundation/scope.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { ann, ask, governedAgent, key } from "../../verdicts/evaluations/testing/refunds.ts"
import { type Altered, alteredLife, LEFT_OUT, says, without } from "../../verdicts/kill/testing/altered.ts"
import { FairnessScreens } from "./service.ts"

/** Decisions of people of these labels, one each. */
const witness = (agentId: string, prefix: string, all: ReadonlyArray<unknown>, status: "ok" | "intended" = "ok") =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      all.map((labels, at) => ({
        client_ref: `${prefix}${at}`,
        kind: "other" as const,
        action: "hire",
        status,
        ...(labels === undefined ? {} : { labels })
      })),
      key
    )
  )

/** `hired` of `count` people of a sex. */
const people = (sex: unknown, hired: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ person: { sex }, hired: at < hired }))

const hired = (agentId: string, more: Partial<FairnessScreenIn> = {}): FairnessScreenIn => ({
  agent_id: agentId,
  group: "/person/sex",
  outcome: { source: "labels", path: "/hired", positive: [true] },
  ...more
})

describe("a fairness screen", () => {
  it.effect("counts every decision once, and compares groups with the highest rate", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const { id } = yield* registered("recruiter")
      yield* witness(id, "m", people("m", 45, 60))
      yield* witness(id, "f", people("f", 15, 50))
      yield* witness(id, "x", [...people(null, 1, 2), { person: { sex: "f" } }, {}, undefined, [1], people("f", 1, 1)])
      const found = yield* screens.screen(hired(id), ann)
      assert.deepInclude(found, {
        agent_id: id,
        group: "/person/sex",
        decisions: 117,
        erased: 0,
        without_outcome: 5,
        verdict: "demonstrated",
        undefined_reason: null,
        screened_by: ann.id
      })
      assert.deepInclude(found.ungrouped, { n: 2, positive: 1 })
      const [female, male] = found.groups
      assert.deepInclude(female, { value: "f", is_base: false })
      assert.deepInclude(female!.rate, { value: 0.3, positive: 15, n: 50 })
      assert.deepInclude(female!.against_base, { below_four_fifths: true, fisher_p: null, verdict: "demonstrated" })
      assert.closeTo(female!.against_base!.ratio, 0.4, 1e-12)
      assert.deepInclude(male, { value: "m", is_base: true, against_base: null })
      assert.deepStrictEqual(yield* screens.list({ agent_id: id }), [found])
      assert.deepStrictEqual(yield* screens.list({}, unitScope("other")), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("counts a window of 20,000 decisions, and refuses one more", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const { id } = yield* registered("recruiter")
      for (let batch = 0; batch < 20; batch++) yield* witness(id, `b${batch}-`, people("m", 1_000, 1_000))
      assert.strictEqual((yield* screens.screen(hired(id, { from_seq: 0 }), ann)).decisions, 20_000)
      yield* witness(id, "more", people("m", 1, 1))
      assert.strictEqual((yield* Effect.flip(screens.screen(hired(id, { from_seq: 0 }), ann)))._tag, "InvalidInput")
      assert.strictEqual((yield* screens.screen(hired(id), ann)).decisions, 20_000)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is undefined with a reason, never 0", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const { id } = yield* registered("recruiter")
      assert.deepInclude(yield* screens.screen(hired(id), ann), { verdict: null, undefined_reason: "no_groups" })
      yield* witness(id, "m", people("m", 0, 3))
      assert.deepInclude(yield* screens.screen(hired(id), ann), { verdict: null, undefined_reason: "one_group" })
      yield* witness(id, "f", people("f", 0, 3))
      const found = yield* screens.screen(hired(id), ann)
      assert.deepInclude(found, { verdict: null, undefined_reason: "no_positive_outcomes" })
      assert.isNull(found.groups[0]!.against_base)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("takes the outcome of an evaluation, or the status with its settlement", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const capture = yield* Capture
      const { agentId } = yield* governedAgent()
      const allowed = yield* ask(agentId, { tool: "search" })
      const denied = yield* ask(agentId, { tool: "refund", amount: 20_000 })
      const decision = (ref: string, sex: string, more: object) => ({
        client_ref: ref,
        kind: "tool_call" as const,
        action: "refund",
        status: "intended" as const,
        labels: { sex },
        ...more
      })
      const { receipts } = yield* capture.witness(
        agentId,
        [
          decision("a", "m", { evaluation_id: allowed.id }),
          decision("b", "f", { evaluation_id: denied.id }),
          decision("c", "f", { evaluation_id: "evl_other", action: "other" }),
          decision("d", "f", { status: "denied" })
        ],
        key
      )
      const byVerdict: FairnessScreenIn = {
        agent_id: agentId,
        group: "/sex",
        outcome: { source: "evaluation", positive: ["allow", "allow_with_notice"] }
      }
      const found = yield* screens.screen(byVerdict, ann)
      assert.deepInclude(found, { decisions: 4, without_outcome: 2, verdict: "insufficient_evidence" })
      assert.deepStrictEqual(
        found.groups.map(({ rate, value }) => [value, rate.positive, rate.n]),
        [
          ["f", 0, 1],
          ["m", 1, 1]
        ]
      )
      assert.deepInclude(yield* screens.screen({ ...byVerdict, action: "other" }, ann), { decisions: 1 })
      const byStatus: FairnessScreenIn = { ...byVerdict, outcome: { source: "status", positive: ["ok"] } }
      assert.deepInclude(yield* screens.screen(byStatus, ann), { without_outcome: 3 })
      yield* capture.settle(receipts[0]!.decision_id, { status: "ok" }, key)
      const settled = yield* screens.screen(byStatus, ann)
      assert.deepInclude(settled, { without_outcome: 2 })
      assert.deepInclude(settled.groups[1]!.rate, { positive: 1, n: 1 })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("reads a window, of one agent or of an org unit, and refuses what it cannot count", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const { id } = yield* registered("recruiter", "ward 7")
      const { id: second } = yield* registered("second", "ward 7")
      const { receipts } = yield* witness(id, "a", people("m", 1, 2))
      yield* witness(second, "b", people("f", 1, 2))
      const [from, to] = [receipts[0]!.seq, receipts[1]!.seq]
      assert.deepInclude(yield* screens.screen(hired(id, { from_seq: to, to_seq: to }), ann), {
        from_seq: to,
        to_seq: to,
        decisions: 1
      })
      const { agent_id: _, ...unit } = { ...hired(id), org_unit: "ward 7" }
      const ofUnit = yield* screens.screen({ ...unit, since: "1970-01-01T00:00:00.000Z" }, ann, unitScope("ward 7"))
      assert.deepInclude(ofUnit, { agent_id: null, agent_ids: [id, second].toSorted(), decisions: 4 })
      assert.deepStrictEqual(yield* screens.list({}, unitScope("ward 7")), [
        ofUnit,
        ...(yield* screens.list({ agent_id: id }))
      ])
      yield* witness(
        id,
        "many",
        Array.from({ length: 21 }, (_, at) => ({ person: { sex: at }, hired: true }))
      )
      for (const wrong of [hired(id), unit, { ...hired(id), org_unit: "ward 7" }, { ...unit, org_unit: "empty" }])
        assert.strictEqual((yield* Effect.flip(screens.screen(wrong, ann)))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(screens.screen(hired("agt_1"), ann)))._tag, "AgentNotFound")
      const other = yield* Effect.flip(screens.screen({ ...unit, from_seq: from }, ann, unitScope("other")))
      assert.strictEqual(other._tag, "OrgUnitNotAllowed")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("keeps its counts when the question and the groups are erased, and counts erased labels", () =>
    Effect.gen(function* () {
      const screens = yield* FairnessScreens
      const { id } = yield* registered("recruiter")
      const { receipts } = yield* witness(id, "m", [...people("m", 3, 4), ...people("f", 1, 4)])
      const first = yield* screens.screen(hired(id), ann)
      const erase = (seq: number, name: "labels" | "screen") =>
        Erasure.use((erasure) => erasure.erase({ seq, name, reason: "subject_request" }, ann))
      yield* erase(first.seq, "screen")
      yield* erase(receipts[0]!.seq, "labels")
      const [left] = yield* screens.list({ agent_id: id })
      assert.deepInclude(left, { group: null, decisions: 8, verdict: first.verdict })
      assert.deepStrictEqual(
        left!.groups,
        first.groups.map((one) => ({ ...one, value: null }))
      )
      assert.deepInclude(yield* screens.screen(hired(id), ann), { decisions: 8, erased: 1 })
    }).pipe(Effect.provide(governorWorld()))
  )
})

interface Lived {
  readonly other: string
}
const altered = alteredLife(
  Effect.gen(function* () {
    const screens = yield* FairnessScreens
    const { id } = yield* registered("recruiter")
    const { id: other } = yield* registered("other", "ward 7")
    const { receipts } = yield* witness(id, "m", people("m", 45, 60))
    yield* witness(id, "f", [...people("f", 15, 50), {}])
    yield* Erasure.use((erasure) =>
      erasure.erase({ seq: receipts[0]!.seq, name: "labels", reason: "subject_request" }, ann)
    )
    yield* screens.screen(hired(id), ann)
    const { agent_id: _, ...unit } = hired(id)
    yield* screens.screen({ ...unit, org_unit: "ops", from_seq: 0 }, ann)
    return { other }
  })
)

describe("replay of fairness screens", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["a verdict that does not follow", ["fairness.screened", 0, says({ verdict: "not_demonstrated" })]],
    ["no verdict", ["fairness.screened", 0, without(["verdict"])]],
    ["other counts of groups", ["fairness.screened", 0, says({ groups: [] })]],
    ["another base", ["fairness.screened", 0, says({ base: 0 })]],
    ["fewer decisions", ["fairness.screened", 0, says({ decisions: 100 })]],
    ["erasures that no record shows", ["fairness.screened", 0, says({ erased: 2 })]],
    ["another window", ["fairness.screened", 0, says({ from_seq: 0, to_seq: 20 })]],
    ["a window that ends behind it", ["fairness.screened", 0, says({ to_seq: 9_999 })]],
    ["another source of outcomes", ["fairness.screened", 0, says({ source: "status" })]],
    ["another action", ["fairness.screened", 0, says({ action: "fire" })]],
    [
      "other values of groups",
      [
        "fairness.screened",
        0,
        { part: "screen", json: { group: "/person/sex", path: "/hired", positive: [true], values: ["m", "f"] } }
      ]
    ],
    ["a decision with other labels", ["decision.witnessed", 70, { part: "labels", json: people("f", 0, 1)[0] }]],
    ["a decision that is left out", ["decision.witnessed", 70, LEFT_OUT]],
    [
      "an agent that the org unit does not have",
      ["fairness.screened", 1, (body, { other }) => ({ ...body, agent_ids: [other] })],
      "reference_mismatch"
    ],
    ["a unit beside an agent", ["fairness.screened", 1, without(["agent_ids"])], "reference_mismatch"],
    ["a question that is hidden", ["fairness.screened", 0, { hides: "screen" }], "withheld"],
    ["labels that are hidden", ["decision.witnessed", 70, { hides: "labels" }], "withheld"],
    ["a screen by a key", ["fairness.screened", 0, says({ writer: key.id })], "writer_mismatch"]
  ] as ReadonlyArray<readonly [string, Altered<Lived>, string?]>)(
    "finds %s",
    ([, change, verdict = "fairness_mismatch"]) =>
      Effect.map(altered(change), (found) => assert.include(found, verdict))
  )
})
