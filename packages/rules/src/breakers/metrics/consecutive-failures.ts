/** `consecutive_failures`: decisions that failed one after the other. */
import { type Metric, windowMs } from "../metric.ts"
import { Series } from "../series.ts"
import { outcomeKinds, outcomeOf } from "../share.ts"

/** The metric. */
export const consecutiveFailures: Metric = {
  name: "consecutive_failures",
  about: "Decisions in a row, up to the last one, that ended in `error`. Those before the window do not count.",
  trips: "at `max_count` and above",
  params: {
    max_count: { type: "integer", min: 1, max: 1_000_000, default: 5 },
    window_ms: { ...windowMs, default: 86_400_000 }
  },
  kinds: outcomeKinds,
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    /** Failures in a row up to each sample, by its position. */
    const runs = new Map<number, number>()
    const series = new Series(0)
    let run = 0
    return {
      add: (record) => {
        const outcome = outcomeOf(record)
        if (outcome === null) return
        run = outcome === "error" ? run + 1 : 0
        runs.set(series.add(record.seq, record.atMs, []), run)
      },
      read: ({ ms, seq }) => {
        const { end, first } = series.within(ms, windowLength, seq)
        const failures = end === first ? 0 : Math.min(runs.get(end - 1)!, end - first)
        return {
          value: String(failures),
          samples: failures,
          tripped: failures >= Number(params["max_count"]),
          fromSeq: failures === 0 ? null : series.seqAt(end - failures),
          toSeq: failures === 0 ? null : series.seqAt(end - 1)
        }
      },
      forget: (beforeMs) => {
        series.forget(beforeMs - windowLength)
        for (const position of runs.keys()) {
          if (position >= series.held.first) return
          runs.delete(position)
        }
      }
    }
  }
}
