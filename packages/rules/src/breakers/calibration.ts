/**
 * Sets the threshold of a breaker by runs that a person marked good, so that at most a stated share of good runs trips
 * it: split conformal. Pure: service, preview and verifier run it. Spec: decision 0075.
 */
import type { Slices } from "@flyball/evidence"
import { conformalRank, fewestScores } from "@flyball/statistics"
import type { AgentFacts, Metric, MetricRecord, Params } from "./metric.ts"

/** The runs that are good: those within a range of records, but these. */
export interface GoodRuns {
  readonly fromSeq: number
  readonly toSeq: number
  readonly except: ReadonlyArray<string>
}

/** Kinds of records that make a run. */
export const runKinds: ReadonlyArray<string> = ["decision.witnessed", "decision.settled"]

/** Most records of the range. */
export const MAX_CALIBRATION_RECORDS = 20_000

/** Records before the range and after it that are read: a run that one of them belongs to is not whole in the range. */
export const CALIBRATION_MARGIN = 1_000

/** A calibration. `threshold`: null where the runs are too few. */
export interface Calibration {
  readonly runs: number
  readonly threshold: number | null
  /** The fewest runs for the bound. */
  readonly needed: number
  /**
   * The bound that so many runs keep: `(n + 1 - rank) / (n + 1)`, rounded up. Null without a threshold. Unit:
   * hundredths of a percent.
   */
  readonly keptBp: number | null
}

/** Records between two slices. */
const SLICE = 500

/**
 * Calibrates the threshold of a metric that reads runs singly ({@link Metric.perRun}).
 *
 * The score of a run is the highest value that the metric has on its records alone. A run that shares the window with
 * others is read no higher. Runs that also have a record outside the range, and records without a run, do not count.
 *
 * - Shape: `records` of {@link runKinds} of one agent, in order: the range with its margins.
 * - Unit: `maxFalseStopBp` in hundredths of a percent.
 */
export function* calibrate(
  metric: Metric,
  params: Params,
  records: ReadonlyArray<MetricRecord>,
  good: GoodRuns,
  maxFalseStopBp: number
): Slices<Calibration> {
  const runs = runsWithin(records, good)
  const scores: Array<number> = []
  let sinceSlice = 0
  for (const own of runs) {
    scores.push(scoreOf(metric, params, own))
    sinceSlice += own.length
    if (sinceSlice < SLICE) continue
    sinceSlice = 0
    yield
  }
  const n = scores.length
  const rank = conformalRank(n, maxFalseStopBp)
  const score = rank === null ? null : scores.toSorted((a, b) => a - b)[rank - 1]!
  return {
    runs: n,
    threshold: score === null ? null : Math.max(1, score + metric.perRun!.beyond),
    needed: fewestScores(maxFalseStopBp),
    keptBp: rank === null ? null : Math.ceil((10_000 * (n + 1 - rank)) / (n + 1))
  }
}

/** The records of each run that lies within the range as a whole. */
const runsWithin = (
  records: ReadonlyArray<MetricRecord>,
  { except, fromSeq, toSeq }: GoodRuns
): ReadonlyArray<ReadonlyArray<MetricRecord>> => {
  const runOf = new Map<number, string>()
  const runs = new Map<string, Array<MetricRecord>>()
  const left = new Set(except)
  for (const record of records) {
    const { body, kind, seq } = record
    const run = kind === "decision.witnessed" ? body["run_id"] : runOf.get(Number(body["decision_seq"]))
    if (typeof run !== "string") continue
    runOf.set(seq, run)
    if (seq < fromSeq || seq > toSeq) left.add(run)
    const own = runs.get(run)
    if (own === undefined) runs.set(run, [record])
    else own.push(record)
  }
  return [...runs].flatMap(([run, own]) => (left.has(run) ? [] : [own]))
}

const facts: AgentFacts = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }

const scoreOf = (metric: Metric, params: Params, records: ReadonlyArray<MetricRecord>): number => {
  const first = records[0]!
  const fold = metric.start(params, { seq: first.seq - 1, atMs: first.atMs }, 0)
  let highest = 0
  for (const record of records) {
    fold.add(record)
    const { value } = fold.read({ ms: record.atMs, seq: record.seq }, facts)
    highest = Math.max(highest, Math.min(Number(value), Number.MAX_SAFE_INTEGER - 1))
  }
  return highest
}
