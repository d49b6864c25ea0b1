/** Running windows against naive folds over the whole list of records, at the edges of windows. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { Json } from "../records/record.ts"
import type { AgentFacts, MetricRecord, Params } from "./metric.ts"
import { breakerMetrics, metricOf, unavailableMetrics } from "./metrics.ts"
import { readParams } from "./params.ts"
import { isAtOrAbove } from "./wilson.ts"
import { naiveMetrics, WINDOW, WITHIN } from "../testing/naive-metrics.ts"

const facts: AgentFacts = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }
const START = { seq: 9, atMs: 100_000 }

type Body = { readonly [name: string]: Json }
type Draft = {
  readonly kind: string
  readonly body: Body
  readonly after: number
  readonly instances?: ReadonlyArray<string>
}

/** Gaps that put records at the very edges of windows. */
const after = fc.constantFrom(0, 0, 1, 250, 499, 500, 501, 999, 1_000, 1_001)
const usage = fc.record({
  cost_micro_usd: fc.constantFrom(0, 1, 400, Number.MAX_SAFE_INTEGER),
  input_tokens: fc.constantFrom(0, 7, 2 ** 40),
  output_tokens: fc.constantFrom(0, 3)
})
const status = fc.constantFrom("ok", "error", "error", "intended", "denied", "unknown")
const back = fc.integer({ min: 1, max: 12 })

/** `back` names an earlier record by distance. */
const draft: fc.Arbitrary<(seq: number) => Draft> = fc.oneof(
  fc
    .record({
      after,
      status,
      usage,
      run: fc.constantFrom("a", "b"),
      kind: fc.constantFrom("tool_call", "message"),
      back
    })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: "decision.witnessed",
      body: {
        status: one.status,
        usage: one.usage,
        run_id: one.run,
        kind: one.kind,
        evaluation_id: `evl_${seq - one.back}`
      }
    })),
  fc
    .record({ after, status: fc.constantFrom("ok", "error"), usage, back, actual: fc.constantFrom(0, 5, 2 ** 40) })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: "decision.settled",
      body: {
        status: one.status,
        usage: one.usage,
        decision_seq: seq - one.back,
        evaluation_seq: seq - one.back,
        actual: [{ meter: "spent", amount: one.actual }]
      }
    })),
  fc
    .record({
      after,
      outcome: fc.constantFrom("allow", "allow_with_notice", "deny", "halt", "require_review"),
      rule: fc.constantFrom("r", "r", "@killed"),
      digest: fc.constantFrom("d1", "d2", null),
      amount: fc.constantFrom(0, 3, Number.MAX_SAFE_INTEGER)
    })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: "evaluation.made",
      body: {
        outcome: one.outcome,
        matched_rule: one.rule,
        evaluation_id: `evl_${seq}`,
        meters: [
          { id: "spent", window: "w", value: 0, after: 0, amount: one.amount },
          { id: "other", window: "x", value: 0, after: 0, amount: 99 }
        ],
        ...(one.digest === null ? {} : { action_digest: one.digest })
      }
    })),
  fc.record({ after, back }).map((one) => (seq: number) => ({
    after: one.after,
    kind: "meter.voided",
    body: { evaluation_seq: seq - one.back }
  })),
  fc
    .record({
      after,
      response: fc.constantFrom("halt", "halt", "drain", "notify"),
      instances: fc.subarray(["a", "b"]),
      drill: fc.constantFrom(false, false, true)
    })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: "kill.expected",
      body: {
        activation_id: `kil_${seq}`,
        response: one.response,
        ...(one.drill ? { drill: { drill_id: "d", mode: "live" } } : {})
      },
      instances: one.instances
    })),
  fc
    .record({
      after,
      back,
      kind: fc.constantFrom("kill.acknowledged", "kill.acknowledged", "kill.stopped", "kill.released"),
      instance: fc.constantFrom("a", "b", "c")
    })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: one.kind,
      body: { activation_id: `kil_${seq - one.back}`, instance_id: one.instance }
    })),
  fc.record({ after, trusted: fc.boolean() }).map((one) => () => ({
    after: one.after,
    kind: "mcp.manifest_seen",
    body: { trusted: one.trusted }
  })),
  fc.record({ after, expires: fc.constantFrom(500, 2_000, 40_000) }).map((one) => (seq: number) => ({
    after: one.after,
    kind: "review.opened",
    body: { review_id: `rev_${seq}`, expires_at_ms: START.atMs + one.expires }
  })),
  fc
    .record({
      after,
      back: fc.constantFrom(1, 1, 2, 3, 4),
      kind: fc.constantFrom("review.resolved", "review.resolved", "review.expired", "review.cancelled"),
      resolution: fc.constantFrom("approve", "reject", "amend"),
      ends: fc.boolean()
    })
    .map((one) => (seq: number) => ({
      after: one.after,
      kind: one.kind,
      body: { review_id: `rev_${seq - one.back}`, resolution: one.resolution, ends: one.ends }
    }))
)

const history = fc.array(draft, { maxLength: 80, size: "max" }).map((drafts) => {
  const records: Array<MetricRecord> = []
  let atMs = START.atMs
  // Every other seq is another agent's.
  drafts.forEach((make, index) => {
    const { after: gap, ...drafted } = make(START.seq + 1 + index)
    atMs += gap
    records.push({ seq: START.seq + 1 + index, atMs, ...drafted })
  })
  return records
})

/** A reading taken after `taken` records: as of a record at or before it, at a time at an edge. */
const question = fc.record({
  of: fc.nat(),
  asOf: fc.nat(8),
  edge: fc.constantFrom(-1, 0, 1),
  whole: fc.constantFrom(0, 1, 2)
})

const givenParams: { readonly [metric: string]: ReadonlyArray<{ readonly [name: string]: number | string }> } = {
  error_rate: [{ window_ms: WINDOW, min_samples: 2, threshold_bp: 5_000 }],
  denial_rate: [{ window_ms: WINDOW, min_samples: 2, threshold_bp: 5_000 }],
  spend: [{ meter: "spent", window_ms: WINDOW, cap: 6 }],
  spend_burn: [{ budget: 1_000, period_ms: 10_000, long_ms: 2 * WINDOW, short_ms: WINDOW, burn_bp: 20_000 }],
  token_burn: [
    { window_ms: WINDOW, cap_tokens: 30 },
    { window_ms: WINDOW, cap_tokens: 30, per: "run" }
  ],
  action_velocity: [
    { window_ms: WINDOW, max_count: 3 },
    { window_ms: WINDOW, max_count: 3, kind: "message" },
    { window_ms: WINDOW, max_count: 3, per: "run" }
  ],
  repeat_action: [{ window_ms: WINDOW, max_identical: 2 }],
  consecutive_failures: [{ max_count: 3, window_ms: WINDOW }],
  effect_missing_rate: [{ window_ms: WINDOW, within_ms: WITHIN, min_samples: 2, threshold_bp: 5_000 }],
  heartbeat_missing: [{ max_silence_ms: 1_000 }],
  kill_ack_missing: [{ max_ms: 1_000 }],
  review_overturn_rate: [{ window_ms: WINDOW, min_samples: 2, threshold_bp: 5_000 }],
  review_backlog: [{ max_open: 1 }],
  mcp_manifest_changed: [{ window_ms: WINDOW, max_count: 2 }]
}

const read = (name: string, params: object): Params => {
  const found = readParams(metricOf(name)!, params as never, 0)
  assert.isTrue(found.ok)
  return (found as { readonly params: Params }).params
}

const limits: { readonly [metric: string]: (value: string, params: Params) => boolean } = {
  error_rate: (value, params) => over(value, params),
  denial_rate: (value, params) => over(value, params),
  effect_missing_rate: (value, params) => over(value, params),
  spend: (value, params) => BigInt(value) >= BigInt(params["cap"]!),
  spend_burn: (value, params) => BigInt(value) >= BigInt(params["burn_bp"]!),
  token_burn: (value, params) => BigInt(value) >= BigInt(params["cap_tokens"]!),
  action_velocity: (value, params) => Number(value) > Number(params["max_count"]),
  repeat_action: (value, params) => Number(value) > Number(params["max_identical"]),
  consecutive_failures: (value, params) => Number(value) >= Number(params["max_count"]),
  heartbeat_missing: (value, params) => Number(value) > Number(params["max_silence_ms"]),
  kill_ack_missing: (value, params) => Number(value) > Number(params["max_ms"]),
  review_overturn_rate: (value, params) => over(value, params),
  review_backlog: (value, params) => Number(value) > Number(params["max_open"]),
  mcp_manifest_changed: (value, params) => Number(value) >= Number(params["max_count"])
}
const over = (value: string, params: Params): boolean => {
  const [part, whole] = value.split("/").map(Number)
  return whole! >= Number(params["min_samples"]) && isAtOrAbove(part!, whole!, Number(params["threshold_bp"]), 0)
}

describe("the metrics of breakers", () => {
  it.each(Object.entries(givenParams).flatMap(([name, all]) => all.map((params) => [name, params] as const)))(
    "%s %o: a running window equals a plain count, at its edges, as of earlier records and after forgetting",
    (name, given) => {
      const params = read(name, given)
      fc.assert(
        fc.property(
          history,
          fc.array(question, { minLength: 1, maxLength: 3 }),
          fc.boolean(),
          (records, questions, forgets) => {
            const metric = metricOf(name)!
            const fold = metric.start(params, START, 0)
            let latestMs = 0
            records.forEach((record, index) => {
              fold.add(record)
              for (const { asOf, edge, of, whole } of questions) {
                // As of a record some places back, at a time that puts one of the records on an edge of the window.
                // What was let go of is not read.
                const known = records.slice(0, index + 1)
                const edgeMs = known[of % known.length]!.atMs + whole * WINDOW + edge
                const ms = Math.max(edgeMs, forgets ? latestMs : 0)
                const keptSeq = forgets ? (known.findLast(({ atMs }) => atMs <= ms)?.seq ?? 0) : 0
                const seq = Math.max(START.seq, record.seq - asOf, keptSeq)
                if (forgets && ms > latestMs) fold.forget((latestMs = ms))
                const { tripped, ...reading } = fold.read({ ms, seq }, facts)
                const counted = naiveMetrics[name]!(
                  params,
                  known.filter((one) => one.seq <= seq),
                  { ms, seq },
                  START
                )
                assert.deepStrictEqual(reading, counted)
                assert.strictEqual(tripped, limits[name]!(reading.value, params))
              }
            })
          }
        ),
        { numRuns: 100, seed: 20_261_125 }
      )
    }
  )

  it("each have a naive counterpart here, except the two that read no records", () => {
    const notCounted = ["owner_orphaned", "chain_verification"]
    assert.deepStrictEqual(
      breakerMetrics.map(({ name }) => name).filter((name) => naiveMetrics[name] === undefined),
      notCounted
    )
    const names = [...breakerMetrics, ...unavailableMetrics].map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
  })

  it("trip on a missing heartbeat only while the agent is active and past its limit", () => {
    const fold = metricOf("heartbeat_missing")!.start({ max_silence_ms: 1_000 }, START, 0)
    const at = (ms: number, isActive: boolean) => fold.read({ ms: START.atMs + ms, seq: 50 }, { ...facts, isActive })
    assert.isFalse(at(1_000, true).tripped)
    assert.isTrue(at(1_001, true).tripped)
    assert.isFalse(at(1_001, false).tripped)
  })

  it("measure an orphan from the start of the window when it was orphaned before that", () => {
    const fold = metricOf("owner_orphaned")!.start({ grace_ms: 1_000 }, START, 0)
    const at = (ms: number, orphanedSinceMs: number | null) =>
      fold.read({ ms: START.atMs + ms, seq: 50 }, { ...facts, orphanedSinceMs })
    assert.deepInclude(at(1_001, null), { value: "0", tripped: false })
    assert.deepInclude(at(1_001, 5), { value: "1001", tripped: true })
    assert.deepInclude(at(1_001, START.atMs + 2), { value: "999", tripped: false })
  })

  it("trip on the first record that fails verification of the chain", () => {
    const fold = metricOf("chain_verification")!.start({}, START, 0)
    assert.deepInclude(fold.read({ ms: 0, seq: 50 }, facts), { value: "ok", tripped: false })
    assert.deepInclude(fold.read({ ms: 0, seq: 50 }, { ...facts, firstBadSeq: 7 }), { value: "7", tripped: true })
  })
})
