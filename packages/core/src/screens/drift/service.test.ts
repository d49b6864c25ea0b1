import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { unitScope } from "../../foundation/scope.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { answer } from "../../verdicts/envelopes/examination/answer.ts"
import { Examiner, type ExaminerApi } from "../../verdicts/envelopes/examination/examiner.ts"
import { inPlaceLimits } from "../../verdicts/envelopes/examination/questions.ts"
import { key } from "../../verdicts/evaluations/testing/refunds.ts"
import { Behavior } from "./service.ts"
import { witnessRuns } from "./testing/witness-runs.ts"

describe("the change of an agent", () => {
  it.effect("is between its last two windows, with outcomes as settled", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* witnessRuns(id, 20, ["read", "write"], "a")
      const { receipts } = yield* witnessRuns(id, 20, ["read", "delete"], "b")
      const settle = (decisionId: string) =>
        Capture.use((capture) => capture.settle(decisionId, { status: "error", latency_ms: 5 }, key))
      yield* Effect.forEach(receipts, (one) => settle(one.decision_id))
      const found = yield* Behavior.use((behavior) => behavior.change(id, {}))
      assert.deepInclude(found, { agent_id: id, status: "ok", verdict: "changed", unit: "run" })
      assert.deepStrictEqual([found.baseline!.decisions, found.current!.runs], [100, 20])
      const outcome = found.dimensions.find((one) => one.name === "outcome")!
      assert.isTrue(outcome.changed)
      assert.deepStrictEqual(
        found.novel.map(({ dimension, value }) => [dimension, value]),
        [
          ["action", "delete"],
          ["outcome", "error"]
        ]
      )
      assert.strictEqual(found.verification.newest_record_hash, receipts.at(-1)!.record_hash)
      assert.deepStrictEqual(yield* Behavior.use((behavior) => behavior.change(id, {})), found)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("goes to the examiner, as JSON", () => {
    const called: Array<string> = []
    const examiner: ExaminerApi = {
      ask: (kind, about) => {
        called.push(kind)
        return Effect.sync(() => answer({ kind, about: JSON.parse(JSON.stringify(about)) }, inPlaceLimits))
      }
    }
    return Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* witnessRuns(id, 20, ["read", "write"], "a")
      const found = yield* Behavior.use((behavior) => behavior.change(id, { lookback: 100 }))
      assert.deepStrictEqual([found.verdict, called], ["no_change_detected", ["change"]])
    }).pipe(Effect.provide(governorWorld().pipe(Layer.provide(Layer.succeed(Examiner, examiner)))))
  })

  it.effect("needs two windows within the lookback, and an agent in scope", () =>
    Effect.gen(function* () {
      const behavior = yield* Behavior
      const { id } = yield* registered("courier")
      const refused = yield* Effect.flip(behavior.change(id, { lookback: 10, window: 6 }))
      assert.deepInclude(refused, { _tag: "InvalidInput" })
      assert.strictEqual((yield* behavior.change(id, { lookback: 11 })).params.window, 5)
      const empty = yield* behavior.change(id, { lookback: 2_000 })
      assert.deepInclude(empty, { status: "insufficient_data", missing: { decisions: 2_000, runs: null } })
      const other = yield* Effect.flip(behavior.change(id, {}, unitScope("other")))
      assert.strictEqual(other._tag, "AgentNotFound")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("reads the windows and no other decision, and settlements one by one where they lie far apart", () => {
    let [read, single] = [0, 0]
    const counting = governorWorld((storage) => ({
      ...storage,
      records: (query) =>
        Effect.tap(storage.records(query), (found) =>
          Effect.sync(() => {
            if (query.order === "desc") read += found.length
          })
        ),
      record: (seq) =>
        Effect.andThen(
          Effect.sync(() => single++),
          storage.record(seq)
        )
    }))
    return Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const { receipts } = yield* witnessRuns(id, 100, ["read", "write"], "a")
      const settle = (from: number, to: number) =>
        Effect.forEach(receipts.slice(from, to), ({ decision_id: decisionId }) =>
          Capture.use((capture) => capture.settle(decisionId, { status: "error" }, key))
        )
      const change = Behavior.use((behavior) => behavior.change(id, { lookback: 40 }))
      yield* settle(490, 494)
      ;[read, single] = [0, 0]
      yield* change
      assert.deepStrictEqual([read, single], [40, 0])
      yield* settle(499, 500)
      yield* settle(0, 10)
      yield* settle(498, 499)
      yield* settle(10, 20)
      yield* settle(495, 498)
      ;[read, single] = [0, 0]
      const { effect } = (yield* change).dimensions.find(({ name }) => name === "outcome")!
      assert.deepStrictEqual([read, single], [40, 3])
      // Two of the last four runs have errors.
      assert.deepInclude(effect, { component: ["error"], current: 0.5 })
    }).pipe(Effect.provide(counting))
  })
})
