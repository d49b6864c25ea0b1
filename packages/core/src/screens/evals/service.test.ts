import { assert, describe, it } from "@effect/vitest"
import type { EvalRunIn } from "@flyball/contract"
import { Effect } from "effect"
import { unitScope } from "../../foundation/scope.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ann, key } from "../../verdicts/evaluations/testing/refunds.ts"
import { type Altered, alteredLife, LEFT_OUT, says } from "../../verdicts/kill/testing/altered.ts"
import { EvalRuns } from "./service.ts"

const digest = `sha256:${"0a".repeat(32)}`
type Outcome = EvalRunIn["cases"][number]["outcomes"][number]
/** Cases with these outcomes, named by their place. */
const cases = (...each: ReadonlyArray<ReadonlyArray<Outcome>>): EvalRunIn["cases"] =>
  each.map((outcomes, at) => ({ id: `case ${at}`, outcomes }))
const all = (count: number, ...outcomes: ReadonlyArray<Outcome>) => Array.from({ length: count }, () => outcomes)

const run = (agentId: string, of: EvalRunIn["cases"], more: Partial<EvalRunIn> = {}): EvalRunIn => ({
  agent_id: agentId,
  suite: "refund policy",
  suite_digest: digest,
  cases: of,
  ...more
})

describe("an eval run", () => {
  it.effect("has counts, and a rate whose interval counts cases", () =>
    Effect.gen(function* () {
      const runs = yield* EvalRuns
      const { id } = yield* registered("courier")
      const first = yield* runs.record(
        run(id, cases(["passed", "passed"], ["passed", "failed"], ["errored"], ["skipped"]), { model: "m" }),
        ann
      )
      assert.deepInclude(first, {
        suite: "refund policy",
        model: "m",
        comparison: null,
        gate: "pass",
        recorded_by: ann.id
      })
      assert.deepStrictEqual(first.result_counts, { total: 6, passed: 3, failed: 1, errored: 1, skipped: 1 })
      const [score] = first.scores!
      assert.deepInclude(score, { name: "pass_rate", value: 0.75, n: 4, clusters: 2 })
      assert.deepStrictEqual(first.pass_power, [
        { k: 1, value: 0.75 },
        { k: 2, value: 0.5 }
      ])
      assert.deepStrictEqual(yield* runs.list({ agent_id: id }), [first])
      assert.deepStrictEqual(yield* runs.list({}, unitScope("other")), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is worse or better by cases, not by repeats, and blocks only after an A/A run", () =>
    Effect.gen(function* () {
      const runs = yield* EvalRuns
      const { id } = yield* registered("courier")
      const good = cases(...all(8, "passed", "passed", "passed"))
      yield* runs.record(run(id, good, { model: "a" }), ann)
      // Four cases of which each repeat fails: 12 trials, and no more than 4 votes.
      const four = yield* runs.record(
        run(id, cases(...all(4, "passed", "passed", "passed"), ...all(4, "failed", "failed", "failed")), {
          model: "b"
        }),
        ann
      )
      assert.deepInclude(four.comparison, { wins: 0, losses: 4, p: "0.125", verdict: "inconclusive", is_aa: false })
      yield* runs.record(run(id, good, { model: "a" }), ann)
      const worse = yield* runs.record(run(id, cases(...all(8, "failed")), { model: "b" }), ann)
      assert.deepInclude(worse.comparison, { losses: 8, p: "0.0078125", verdict: "worse" })
      assert.deepStrictEqual(worse.comparison!.lost_cases!.length, 8)
      assert.strictEqual(worse.gate, "uncalibrated")
      const same = yield* runs.record(run(id, cases(...all(8, "failed")), { model: "b" }), ann)
      assert.deepInclude(same.comparison, { is_aa: true, verdict: "inconclusive", baseline_run_id: worse.id })
      const better = yield* runs.record(run(id, good, { model: "a" }), ann)
      assert.deepInclude(better.comparison, { wins: 8, verdict: "better" })
      const again = yield* runs.record(
        run(id, cases(...all(8, "failed")), { model: "b", baseline_run_id: better.id }),
        ann
      )
      assert.deepInclude(again, { gate: "fail", calibration_run_id: same.id })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is not compared across suites, with cases that were erased, or with a run of another agent", () =>
    Effect.gen(function* () {
      const runs = yield* EvalRuns
      const { id } = yield* registered("courier")
      const { id: other } = yield* registered("other")
      const first = yield* runs.record(run(id, cases(["passed"])), ann)
      const twice = [...cases(["passed"]), ...cases(["failed"])]
      for (const wrong of [
        run(other, cases(["passed"]), { baseline_run_id: first.id }),
        run(id, cases(["passed"]), { baseline_run_id: first.id, suite_digest: `sha256:${"0b".repeat(32)}` }),
        run(id, cases(["passed"]), { baseline_run_id: `evr_${"0".repeat(26)}` }),
        run(id, twice)
      ])
        assert.strictEqual((yield* Effect.flip(runs.record(wrong, ann)))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(runs.record(run("agt_1", cases(["passed"])), ann)))._tag, "AgentNotFound")
      yield* Erasure.use((erasure) => erasure.erase({ seq: first.seq, name: "suite", reason: "security" }, ann))
      const [left] = yield* runs.list({ agent_id: id })
      assert.deepInclude(left, { suite: null, scores: null, pass_power: null, result_counts: first.result_counts })
      const next = yield* runs.record(run(id, cases(["passed"])), ann)
      assert.isNull(next.comparison)
      assert.strictEqual(
        (yield* Effect.flip(runs.record(run(id, cases(["passed"]), { baseline_run_id: first.id }), ann)))._tag,
        "InvalidInput"
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})

const altered = alteredLife(
  Effect.gen(function* () {
    const runs = yield* EvalRuns
    const { id: agentId } = yield* registered("courier")
    const { id: other } = yield* registered("other")
    const first = yield* runs.record(run(agentId, cases(...all(6, "passed")), { model: "a" }), ann)
    const aa = yield* runs.record(run(agentId, cases(...all(6, "passed")), { model: "a" }), ann)
    const worse = yield* runs.record(run(agentId, cases(...all(6, "failed")), { model: "b" }), ann)
    assert.deepInclude(worse, { gate: "fail", calibration_run_id: aa.id })
    return { agentId, other, first: first.id }
  })
)

describe("replay of eval runs", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["counts that are not those of the cases", ["eval.recorded", 0, says({ passed: 7 })], "eval_mismatch"],
    ["a verdict that does not follow", ["eval.recorded", 2, says({ verdict: "better" })], "eval_mismatch"],
    ["a probability that does not follow", ["eval.recorded", 2, says({ p: "0.5" })], "eval_mismatch"],
    ["an A/A run of another model", ["eval.recorded", 2, says({ is_aa: true })], "eval_mismatch"],
    [
      "a run of another agent as baseline",
      ["eval.recorded", 0, (body, { other }) => ({ ...body, agent_id: other })],
      "reference_mismatch"
    ],
    ["a baseline that is left out", ["eval.recorded", 0, LEFT_OUT], "reference_mismatch"],
    [
      "a gate that no A/A run calibrated",
      ["eval.recorded", 2, (body, { first }) => ({ ...body, calibration_id: first })],
      "reference_mismatch"
    ],
    ["a run that a key recorded", ["eval.recorded", 1, says({ writer: key.id })], "writer_mismatch"]
  ] as ReadonlyArray<readonly [string, Altered<{ agentId: string; other: string; first: string }>, string]>)(
    "finds %s",
    ([, change, verdict]) => Effect.map(altered(change), (found) => assert.include(found, verdict))
  )
})
