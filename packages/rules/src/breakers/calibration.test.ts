import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type Calibration, calibrate, type GoodRuns } from "./calibration.ts"
import type { MetricRecord, Params } from "./metric.ts"
import { metricOf } from "./metrics.ts"

const metric = metricOf("action_velocity")!
const tokens = metricOf("token_burn")!
const params: Params = { window_ms: 10_000, per: "run", max_count: 1 }

const calibrated = (
  records: ReadonlyArray<MetricRecord>,
  bound: number,
  good: Partial<GoodRuns> = {},
  [of, given] = [metric, params] as const
): Calibration => {
  const work = calibrate(of, given, records, { fromSeq: 0, toSeq: Number.MAX_SAFE_INTEGER, except: [], ...good }, bound)
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Runs of these lengths, a decision every 100 ms, one run behind the other. */
const runsOf = (lengths: ReadonlyArray<number>): ReadonlyArray<MetricRecord> =>
  lengths
    .flatMap((length, run) => Array.from({ length }, () => `run-${run}`))
    .map((run, seq) => ({ seq, atMs: seq * 100, kind: "decision.witnessed", body: { run_id: run, status: "ok" } }))

/** True when a breaker with this threshold trips on a run. */
const isStopped = (length: number, threshold: number): boolean => {
  const fold = metric.start({ ...params, max_count: threshold }, { seq: -1, atMs: 0 }, 0)
  return runsOf([length]).some((record) => {
    fold.add(record)
    const at = { ms: record.atMs, seq: record.seq }
    return fold.read(at, { isActive: true, orphanedSinceMs: null, firstBadSeq: null }).tripped
  })
}

describe("a calibrated threshold", () => {
  it("is the highest value of the runs where only so few bounds are left", () => {
    const lengths = Array.from({ length: 19 }, (_, at) => at + 1)
    assert.deepStrictEqual(calibrated(runsOf(lengths), 500), { runs: 19, threshold: 19, needed: 19, keptBp: 500 })
    assert.deepStrictEqual(calibrated(runsOf(lengths.slice(1)), 500), {
      runs: 18,
      threshold: null,
      needed: 19,
      keptBp: null
    })
    assert.deepInclude(calibrated(runsOf(lengths), 2_500), { threshold: 15, keptBp: 2_500 })
  })

  it("stops at most the stated share of good runs, when each of them is the next one in turn", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 130 }), { minLength: 5, maxLength: 24 }),
        fc.constantFrom(500, 1_000, 2_000, 5_000),
        (lengths, bound) => {
          const stopped = lengths.filter((length, at) => {
            const { threshold } = calibrated(runsOf(lengths.toSpliced(at, 1)), bound)
            return threshold !== null && isStopped(length, threshold)
          })
          assert.isAtMost(stopped.length, (lengths.length * bound) / 10_000)
        }
      ),
      { seed: 33, numRuns: 60 }
    )
  })

  it("counts no run that is left out, reaches outside the range, or has no name", () => {
    const records = [...runsOf([3, 4, 5, 6])]
    assert.deepInclude(calibrated(records, 5_000, { except: ["run-3"] }), { runs: 3, threshold: 4 })
    assert.deepInclude(calibrated(records, 5_000, { fromSeq: 1, toSeq: records.length - 2 }), { runs: 2 })
    const nameless = { seq: 99, atMs: 9_900, kind: "decision.witnessed", body: { status: "ok" } }
    assert.deepInclude(calibrated([...records, nameless], 5_000), { runs: 4 })
  })

  it("does not depend on the order of runs, or on records of runs between each other", () => {
    const [one, two] = [runsOf([2, 5, 3, 9]), runsOf([9, 3, 5, 2])]
    assert.deepStrictEqual(calibrated(one, 3_000), calibrated(two, 3_000))
    const apart = one.map((record) => ({ ...record, atMs: record.seq }))
    const mixed = apart
      .toSorted((a, b) => (a.seq % 3) - (b.seq % 3) || a.seq - b.seq)
      .map((record, seq) => ({ ...record, seq, atMs: seq }))
    assert.deepStrictEqual(calibrated(apart, 3_000), calibrated(mixed, 3_000))
  })

  it("adds what settlements state to their run, and lies one beyond the value where it trips at it", () => {
    const usage = (n: number) => ({ input_tokens: n })
    const records: ReadonlyArray<MetricRecord> = [
      { seq: 0, atMs: 0, kind: "decision.witnessed", body: { run_id: "a", status: "intended", usage: usage(5) } },
      { seq: 1, atMs: 1, kind: "decision.settled", body: { decision_seq: 0, status: "ok", usage: usage(40) } },
      { seq: 2, atMs: 2, kind: "decision.settled", body: { decision_seq: -9, status: "ok", usage: usage(900) } }
    ]
    const given: Params = { window_ms: 10_000, per: "run", cap_tokens: 1 }
    assert.deepInclude(calibrated(records, 5_000, {}, [tokens, given]), { runs: 1, threshold: 41 })
  })
})
