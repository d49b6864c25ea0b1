/** Counts of inferences, as a monitor keeps them of each tenth of its window. Pure. */
import type { Inference, MonitorMetric } from "@flyball/contract"
import { type WindowCounts, SCORE_UNITS, valueOf } from "@flyball/rules"
import type { Counted } from "./document.ts"

/** Counts by bins. Metrics of shares and means have `n` and `k`; latencies and drift a bin for each value. */
export type Tally = { readonly [bin: string]: number }
/** A tally that is added to. */
export type OpenTally = { [bin: string]: number }

/** Counts one inference; answers whether it counts as beyond, null where it is no sample of a share. */
export const countInto = (
  tally: OpenTally,
  metric: MonitorMetric,
  counted: Counted,
  inference: Inference
): boolean | null => {
  const add = (bin: string, by = 1) => void (tally[bin] = (tally[bin] ?? 0) + by)
  const share = (isCounted: boolean): boolean => {
    add("n")
    if (isCounted) add("k")
    return isCounted
  }
  const { error, label = null, latency_ms: latencyMs = null, prediction, score = null } = inference
  switch (metric) {
    case "volume":
      add("n")
      return null
    case "error_rate":
      return share(error === true)
    case "prediction_rate":
      return prediction === null ? null : share(prediction === counted.value)
    case "label_accuracy":
      return prediction === null || label === null ? null : share(prediction === label)
    case "missing_rate":
      return share(fieldOf(inference, counted.field!) === null)
    case "score_mean":
      if (score === null) return null
      add("n")
      add("k", Math.round(score * SCORE_UNITS))
      return null
    case "latency_p95":
      if (latencyMs !== null) add(String(twoDigits(latencyMs)))
      return null
    case "drift_psi": {
      const value = fieldOf(inference, counted.field!)
      const bin = value === null ? null : binOf(counted.reference!, value)
      if (bin !== null) add(String(bin))
      return null
    }
  }
}

/** The value of a field; null where there is none. */
const fieldOf = ({ features, prediction, score }: Inference, field: string): string | number | boolean | null => {
  if (field === "prediction") return prediction
  if (field === "score") return score ?? null
  const name = field.slice("features.".length)
  // A feature may be called `constructor`.
  return Object.hasOwn(features ?? {}, name) ? (features![name] ?? null) : null
}

/** The bin of a value; null for one that has no place among numbers. */
const binOf = (
  { edges, values }: NonNullable<Counted["reference"]>,
  value: string | number | boolean
): number | null => {
  if (edges === undefined || edges === null) {
    const at = values!.indexOf(String(value))
    return at < 0 ? values!.length : at
  }
  if (typeof value !== "number") return null
  const at = edges.findIndex((edge) => value < edge)
  return at < 0 ? edges.length : at
}

/** Rounds a latency up to whole milliseconds of two digits. */
export const twoDigits = (ms: number): number => {
  const whole = Math.ceil(ms)
  const unit = 10 ** Math.max(0, String(whole).length - 2)
  return Math.ceil(whole / unit) * unit
}

/** The reading of some tallies together, and its value. */
export const readTallies = (
  metric: MonitorMetric,
  { reference }: Counted,
  tallies: ReadonlyArray<Tally>
): { readonly reading: WindowCounts; readonly value: number | null } => {
  const sum: OpenTally = {}
  for (const tally of tallies) for (const [bin, count] of Object.entries(tally)) sum[bin] = (sum[bin] ?? 0) + count
  const reading = readingOf(metric, reference?.counts.length ?? 0, sum)
  return { reading, value: valueOf(metric, reading, reference?.counts ?? null) }
}

const readingOf = (metric: MonitorMetric, bins: number, sum: Tally): WindowCounts => {
  switch (metric) {
    case "volume":
      return { samples: sum["n"] ?? 0, counts: [] }
    case "latency_p95": {
      const sorted = Object.entries(sum)
        .map(([ms, count]) => [Number(ms), count] as const)
        .sort(([one], [other]) => one - other)
      const samples = sorted.reduce((all, [, count]) => all + count, 0)
      let below = 0
      for (const [ms, count] of sorted) {
        if (19 * samples <= 20 * (below + count)) return { samples, counts: [below, below + count, ms] }
        below += count
      }
      return { samples, counts: [] }
    }
    case "drift_psi": {
      const counts = Array.from({ length: bins }, (_, at) => sum[String(at)] ?? 0)
      return { samples: counts.reduce((all, one) => all + one, 0), counts }
    }
    default:
      return { samples: sum["n"] ?? 0, counts: [sum["k"] ?? 0] }
  }
}
