/** `drift_score`: alarms of behaviour in a window. */
import { type Metric, windowMs } from "../metric.ts"
import { Series } from "../series.ts"

/** The metric. A breaker that watches it makes the service follow its agent. Spec: decision 0073. */
export const driftScore: Metric = {
  name: "drift_score",
  about: "Alarms of the agent's behaviour: each is an e-value of 20 or more.",
  trips: "at `min_alarms`",
  params: {
    window_ms: windowMs,
    min_alarms: { type: "integer", min: 1, max: 1_000, default: 1 }
  },
  kinds: ["drift.alarmed"],
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const series = new Series(0)
    return {
      add: ({ atMs, kind, seq }) => {
        if (kind === "drift.alarmed") series.add(seq, atMs, [])
      },
      read: ({ ms, seq }) => {
        const { end, first } = series.within(ms, windowLength, seq)
        const samples = end - first
        return {
          value: String(samples),
          samples,
          tripped: samples >= Number(params["min_alarms"]),
          fromSeq: samples === 0 ? null : series.seqAt(first),
          toSeq: samples === 0 ? null : series.seqAt(end - 1)
        }
      },
      forget: (beforeMs) => series.forget(beforeMs - windowLength)
    }
  }
}
