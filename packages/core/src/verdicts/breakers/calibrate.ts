/** Reads what a breaker watches, and sets its threshold by good runs where it has a bound on false stops. */
import { detailItem, type GoodRunsIn, InvalidInput, type MetricNotAvailable } from "@flyball/contract"
import {
  calibrate,
  type Calibration,
  CALIBRATION_MARGIN,
  MAX_CALIBRATION_RECORDS,
  type MetricRecord,
  metricOf,
  runKinds
} from "@flyball/rules"
import { Effect } from "effect"
import { inSlices } from "../../foundation/in-slices.ts"
import type { ReadFault, RecordQuery, StorageApi } from "../../storage/port.ts"
import { sampleOf } from "./halt-samples.ts"
import { type MeasuredBy, readMeasure } from "./read-input.ts"

/** The metric of a breaker, as a caller states it. */
export interface MeasureIn {
  readonly metric: string
  readonly params: { readonly [name: string]: unknown }
  readonly confidence_bp?: number | null | undefined
  readonly max_false_stop_bp?: number | null | undefined
  readonly good_runs?: GoodRunsIn | null | undefined
}

/** A metric with its parameters. `calibration`: null where the caller set the threshold. */
export interface Measured extends MeasuredBy {
  readonly calibration: (Calibration & { readonly threshold: number; readonly keptBp: number }) | null
}

const PAGE = 1_000

/**
 * The metric of a breaker and its parameters. With `max_false_stop_bp` the good runs set the threshold.
 *
 * - Fails: `InvalidInput` too where the metric reads no runs singly, where a threshold is given beside the bound, where
 *   the range is too long, and where it has too few runs (`ctx` says how many are needed).
 */
export const measureOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  {
    confidence_bp: confidence,
    good_runs: good = null,
    max_false_stop_bp: bound = null,
    metric: name,
    params
  }: MeasureIn,
  asOfSeq: number
): Effect.fn.Return<Measured, InvalidInput | MetricNotAvailable | ReadFault> {
  const confidenceBp = confidence ?? 0
  const perRun = metricOf(name)?.perRun
  if (bound === null && good === null)
    return { ...(yield* Effect.fromResult(readMeasure(name, params, confidenceBp))), calibration: null }
  if (bound === null || good === null)
    return yield* refused(
      ["body", good === null ? "good_runs" : "max_false_stop_bp"],
      "Field required",
      null,
      "missing"
    )
  // A threshold of 1 stands for the one to come.
  const given = perRun === undefined ? params : { ...params, [perRun.threshold]: 1 }
  const measure = yield* Effect.fromResult(readMeasure(name, given, confidenceBp))
  if (perRun === undefined || measure.params["per"] !== "run")
    return yield* refused(
      ["body", "max_false_stop_bp"],
      "A bound on false stops is for metrics that read runs singly: token_burn and action_velocity with per run",
      bound
    )
  if (Object.hasOwn(params, perRun.threshold))
    return yield* refused(
      ["body", "params", perRun.threshold],
      "Good runs set this parameter: leave it out, or leave out max_false_stop_bp",
      params[perRun.threshold]
    )
  const range = { ...goodRunsOf(good, 0, asOfSeq), except: good.except ?? [] }
  const records = yield* recordsAround(storage, agentId, range, asOfSeq)
  const found = yield* inSlices(calibrate(measure.metric, measure.params, records, range, bound))
  const { keptBp, needed, runs, threshold } = found
  if (threshold === null || keptBp === null)
    return yield* refused(
      ["body", "good_runs"],
      `A bound of ${bound} needs ${needed} good runs, each whole within the records; there are ${runs}`,
      null,
      "value_error",
      { needed, runs }
    )
  return {
    ...measure,
    params: { ...measure.params, [perRun.threshold]: threshold },
    calibration: { ...found, keptBp, threshold }
  }
})

/** The good runs as a record states them. A range that ends behind the head ends with it. */
export const goodRunsOf = (good: GoodRunsIn, runs: number, asOfSeq: number) => ({
  fromSeq: good.from_seq,
  toSeq: Math.min(good.to_seq, asOfSeq),
  runs
})

const refused = (
  loc: ReadonlyArray<string>,
  msg: string,
  input: unknown,
  type: "missing" | "value_error" = "value_error",
  ctx?: { readonly [name: string]: unknown }
): InvalidInput => new InvalidInput({ detail: [detailItem(loc, type, msg, input, ctx)] })

/** The records of a range of good runs, and those of its margins. */
const recordsAround = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  { fromSeq, toSeq }: { readonly fromSeq: number; readonly toSeq: number },
  asOfSeq: number
): Effect.fn.Return<ReadonlyArray<MetricRecord>, InvalidInput | ReadFault> {
  const read = (query: Pick<RecordQuery, "from" | "order" | "to">, limit = PAGE) =>
    storage.records({ agentId, kinds: runKinds, limit, ...query })
  const before = yield* read({ to: fromSeq - 1, order: "desc" }, CALIBRATION_MARGIN)
  const found = before.toReversed()
  for (let from = fromSeq; from <= toSeq;) {
    const page = yield* read({ from, to: toSeq })
    found.push(...page)
    if (found.length - before.length > MAX_CALIBRATION_RECORDS)
      return yield* refused(
        ["body", "good_runs", "from_seq"],
        `The range has more than ${MAX_CALIBRATION_RECORDS} decisions and settlements; begin it later`,
        fromSeq
      )
    if (page.length < PAGE) break
    from = page.at(-1)!.seq + 1
  }
  if (toSeq < asOfSeq) found.push(...(yield* read({ from: toSeq + 1, to: asOfSeq }, CALIBRATION_MARGIN)))
  return yield* Effect.forEach(found, sampleOf)
})
