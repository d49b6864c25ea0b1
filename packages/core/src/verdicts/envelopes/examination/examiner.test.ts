import { assert, describe, it } from "@effect/vitest"
import type { Evaluation } from "@flyball/contract"
import { Effect, Layer } from "effect"
import { ann, ask, ben, governedAgent, refunds } from "../../evaluations/testing/refunds.ts"
import { Evaluations } from "../../evaluations/service.ts"
import { Capture } from "../../capture/service.ts"
import { governorWorld } from "../../../testing/governor-world.ts"
import { Envelopes } from "../service.ts"
import { answer } from "./answer.ts"
import { Examiner, type ExaminerApi } from "./examiner.ts"
import { inPlaceLimits } from "./questions.ts"

const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

describe("questions about envelopes", () => {
  it.effect(
    "and their answers survive being written as JSON, history with meters, latches and outcomes among them",
    () => {
      const requested: Array<string> = []
      const examiner: ExaminerApi = {
        ask: (kind, about) =>
          Effect.sync(() => {
            const here = answer({ kind, about }, inPlaceLimits)
            assert.deepStrictEqual(throughJson(answer({ kind, about: throughJson(about) }, inPlaceLimits)), here)
            requested.push(kind)
            return here
          })
      }
      return Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const { agentId, envelopeId } = yield* governedAgent(
          refunds({
            signals: {
              tool: { type: "enum", values: ["search", "refund"], source: "caller" },
              amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller", on_missing: 0 },
              foreign: { type: "bool", source: "caller", on_missing: false },
              tainted: { type: "bool", source: "latch", set_by: "foreign" }
            }
          })
        )
        const made: Array<Evaluation> = []
        for (let time = 0; time < 4; time++)
          made.push(
            yield* ask(agentId, { tool: "refund", amount: 1_000 + time, foreign: time === 1 }, { run_id: "run-1" })
          )
        const { receipts } = yield* Capture.use((capture) =>
          capture.witness(
            agentId,
            [{ client_ref: "d1", kind: "tool_call", action: "refund", status: "intended", evaluation_id: made[0]!.id }],
            ann
          )
        )
        yield* Capture.use((capture) =>
          capture.settle(receipts[0]!.decision_id, { status: "ok", actual: [{ meter: "spent", amount: 10 }] }, ann)
        )
        yield* Evaluations.use((evaluations) => evaluations.void(made[1]!.id, {}, ben))
        yield* envelopes.update(envelopeId, { envelope: { ...refunds(), rules: [] } }, ann)
        assert.isTrue((yield* envelopes.lint(envelopeId, {})).complete)
        assert.strictEqual((yield* envelopes.diff(envelopeId, {})).history_total, 4)
        for (const meters of ["recorded", "counterfactual"] as const)
          assert.deepInclude(yield* envelopes.backtest(envelopeId, { meters }), { meters, total: 4 })
        assert.deepStrictEqual([...new Set(requested)].sort(), ["backtest", "diff", "lint", "publish"])
      }).pipe(Effect.provide(governorWorld().pipe(Layer.provide(Layer.succeed(Examiner, examiner)))))
    }
  )

  it.effect("in place are answered one by one, a publication before the lints that wait", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { envelopeId } = yield* governedAgent()
      const answered: Array<string> = []
      const noted = <A, E>(name: string, call: Effect.Effect<A, E>) =>
        Effect.tap(call, () => Effect.sync(() => void answered.push(name)))
      yield* envelopes.update(envelopeId, { envelope: refunds({}, 9_000) }, ann)
      const lints = Array.from({ length: 8 }, () => noted("lint", envelopes.lint(envelopeId, { envelope: refunds() })))
      const publication = noted("publish", envelopes.publish(envelopeId, {}, ben))
      yield* Effect.all([...lints, publication], { concurrency: "unbounded" })
      assert.lengthOf(answered, 9)
      assert.isAtMost(answered.indexOf("publish"), 1, answered.join())
    }).pipe(Effect.provide(governorWorld()))
  )
})
