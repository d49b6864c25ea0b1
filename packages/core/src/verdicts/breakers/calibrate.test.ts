/** Breakers with a bound on false stops: armed, previewed, refused, and judged by replay. */
import { assert, describe, it } from "@effect/vitest"
import type { BreakerCreate, InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import { systemHost } from "../../foundation/writer.ts"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { ann } from "../evaluations/testing/refunds.ts"
import { type Altered, alteredLife, LEFT_OUT, says, without } from "../kill/testing/altered.ts"
import { Breakers } from "./service.ts"

/** Runs of these lengths, one behind the other. Answers the seq of their last decision. */
const act = (agentId: string, prefix: string, lengths: ReadonlyArray<number>) =>
  Capture.use((capture) =>
    Effect.map(
      capture.witness(
        agentId,
        lengths.flatMap((length, run) =>
          Array.from({ length }, (_, step) => ({
            client_ref: `${prefix}${run}.${step}`,
            run_id: `${prefix}${run}`,
            kind: "tool_call" as const,
            action: "pay",
            status: "ok" as const
          }))
        ),
        systemHost
      ),
      ({ receipts }) => receipts.at(-1)!.seq
    )
  )

const steps = (from: number, to: number, more: Partial<BreakerCreate> = {}): BreakerCreate => ({
  name: "steps",
  metric: "action_velocity",
  params: { window_ms: 3_600_000, per: "run" },
  enabled: true,
  mode: "enforce",
  max_false_stop_bp: 2_000,
  good_runs: { from_seq: from, to_seq: to },
  ...more
})

const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9]

describe("a breaker with a bound on false stops", () => {
  it.effect("has the threshold that good runs set, which its preview states, and trips above it", () =>
    Effect.gen(function* () {
      const breakers = yield* Breakers
      const { id } = yield* registered("courier")
      const last = yield* act(id, "good", nine)
      yield* act(id, "later", [40])
      const preview = yield* breakers.preview(id, steps(0, last))
      assert.deepStrictEqual(preview.calibration, { parameter: "max_count", threshold: 8, runs: 9, kept_bp: 2_000 })
      // The ninth run is longer than the eight: so is the one after it, which is released at once 3 times.
      assert.isAbove(preview.trip_count, 1)
      const armed = yield* breakers.arm(id, steps(0, last), ann)
      assert.deepInclude(armed, {
        params: { window_ms: 3_600_000, per: "run", max_count: 8 },
        max_false_stop_bp: 2_000,
        good_runs: { from_seq: 0, to_seq: last, runs: 9 }
      })
      const without = yield* breakers.preview(id, {
        metric: "action_velocity",
        params: { window_ms: 1_000, max_count: 1 }
      })
      assert.isNull(without.calibration)
      yield* act(id, "next", [8])
      assert.deepInclude((yield* breakers.check())[0], { value: "8", tripped: false })
      yield* breakers.update(armed.id, { mode: "warn" }, ann)
      yield* act(id, "long", [9])
      assert.deepInclude((yield* breakers.check())[0], { value: "9", tripped: true })
      assert.deepStrictEqual((yield* Replay.use((replay) => replay.check)).differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is refused where runs are too few, do not set a threshold, or one is given", () =>
    Effect.gen(function* () {
      const breakers = yield* Breakers
      const { id } = yield* registered("courier")
      const last = yield* act(id, "good", nine)
      const refusal = (input: BreakerCreate) =>
        Effect.map(Effect.flip(breakers.arm(id, input, ann)), (found) =>
          (found as InvalidInput).detail.map(({ ctx, loc }) => [loc.slice(1).join("."), ctx?.["needed"], ctx?.["runs"]])
        )
      const [plain, fewer] = [steps(0, last), steps(0, last, { max_false_stop_bp: 900 })]
      assert.deepStrictEqual(yield* refusal(fewer), [["good_runs", 11, 9]])
      // A run that goes on behind the range is not whole.
      assert.deepStrictEqual(yield* refusal(steps(0, last - 1, { max_false_stop_bp: 1_000 })), [["good_runs", 9, 8]])
      const except = { from_seq: 0, to_seq: last, except: ["good8"] }
      assert.deepStrictEqual(yield* refusal({ ...plain, max_false_stop_bp: 1_000, good_runs: except }), [
        ["good_runs", 9, 8]
      ])
      for (const [input, at] of [
        [{ ...plain, params: { ...plain.params, max_count: 5 } }, "params.max_count"],
        [{ ...plain, params: { window_ms: 1_000 } }, "max_false_stop_bp"],
        [{ ...plain, metric: "error_rate", params: { window_ms: 1_000, threshold_bp: 1 } }, "max_false_stop_bp"],
        [{ ...plain, good_runs: null }, "good_runs"],
        [{ ...plain, max_false_stop_bp: null }, "max_false_stop_bp"],
        [{ ...plain, params: { per: "run" } }, "params.window_ms"]
      ] as const)
        assert.deepStrictEqual(
          (yield* refusal(input)).map(([loc]) => loc),
          [at]
        )
      const armed = yield* breakers.arm(id, plain, ann)
      const changed = yield* Effect.flip(breakers.update(armed.id, { params: plain.params }, ann))
      assert.strictEqual(changed._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(breakers.preview(id, fewer)))._tag, "InvalidInput")
    }).pipe(Effect.provide(governorWorld()))
  )
})

const altered = alteredLife(
  Effect.gen(function* () {
    const breakers = yield* Breakers
    const { id } = yield* registered("courier")
    yield* act(id, "early", [2])
    const last = yield* act(id, "good", [...nine, 30])
    const good = { from_seq: 3, to_seq: last, except: ["good9"] }
    const armed = yield* breakers.arm(id, steps(3, last, { good_runs: good }), ann)
    yield* breakers.update(armed.id, { mode: "warn" }, ann)
  })
)
const params = (max: number) => [
  { name: "max_count", number: max },
  { name: "per", word: "run" },
  { name: "window_ms", number: 3_600_000 }
]

describe("replay of calibrated breakers", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["a threshold that does not follow", ["breaker.armed", 0, says({ params: params(30) })]],
    ["another bound", ["breaker.armed", 0, says({ max_false_stop_bp: 1_000 })]],
    ["a bound that is left out", ["breaker.armed", 0, without(["max_false_stop_bp"])]],
    ["more runs", ["breaker.armed", 0, says({ good_runs: { from_seq: 3, runs: 99, to_seq: 50 } })]],
    ["a run that is good after all", ["breaker.armed", 0, { part: "good_runs", json: { except: [] } }]],
    ["a decision that is left out", ["decision.witnessed", 33, LEFT_OUT]],
    ["a threshold that is changed", ["breaker.changed", 0, says({ params: params(30) })]],
    ["a bound that is dropped", ["breaker.changed", 0, without(["good_runs", "max_false_stop_bp"])]],
    ["exceptions that are hidden", ["breaker.armed", 0, { hides: "good_runs" }], "withheld"]
  ] as ReadonlyArray<readonly [string, Altered<unknown>, string?]>)(
    "finds %s",
    ([, change, verdict = "breaker_value_mismatch"]) =>
      Effect.map(altered(change), (found) => assert.include(found, verdict))
  )
})
