/** A share of samples within a window: error rate, denial rate. */
import type { MetricFold, MetricRecord, Params, Reading } from "./metric.ts"
import { Series } from "./series.ts"
import { isAtOrAbove } from "./wilson.ts"

/** A fold of samples that count towards a share or do not. `counts` answers null for a record that is no sample. */
export const shareFold = (
  params: Params,
  confidenceBp: number,
  counts: (record: MetricRecord) => boolean | null
): MetricFold => {
  const series = new Series(1)
  const windowMs = Number(params["window_ms"])
  return {
    add: (record) => {
      const isCounted = counts(record)
      if (isCounted !== null) series.add(record.seq, record.atMs, [isCounted ? 1 : 0])
    },
    read: ({ ms, seq }) => {
      const range = series.within(ms, windowMs, seq)
      return shareReading(series, range, series.sum(0, range, seq), params, confidenceBp)
    },
    forget: (beforeMs) => series.forget(beforeMs - windowMs)
  }
}

/** The reading of a share over a range of samples. */
export const shareReading = (
  series: Series,
  { end, first }: { readonly first: number; readonly end: number },
  part: number,
  params: Params,
  confidenceBp: number
): Reading => {
  const samples = end - first
  return {
    value: `${part}/${samples}`,
    samples,
    tripped:
      samples >= Number(params["min_samples"]) &&
      isAtOrAbove(part, samples, Number(params["threshold_bp"]), confidenceBp),
    fromSeq: samples === 0 ? null : series.seqAt(first),
    toSeq: samples === 0 ? null : series.seqAt(end - 1)
  }
}

/**
 * How a record says that a decision ended: witnessed with an outcome, or settled. Null for any other record. `unknown`
 * is an outcome too: nobody can say what came of it.
 */
export const outcomeOf = ({ body, kind }: MetricRecord): string | null => {
  if (kind !== "decision.witnessed" && kind !== "decision.settled") return null
  const status = body["status"]
  return typeof status === "string" && status !== "intended" ? status : null
}

/** Kinds of records that {@link outcomeOf} reads. */
export const outcomeKinds: ReadonlyArray<string> = ["decision.witnessed", "decision.settled"]
