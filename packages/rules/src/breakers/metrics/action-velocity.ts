/** `action_velocity`: decisions of a window. */
import { type Metric, windowMs } from "../metric.ts"
import { Series } from "../series.ts"

/** The metric. */
export const actionVelocity: Metric = {
  name: "action_velocity",
  about: "Witnessed decisions; with `kind` only those of one kind.",
  trips: "above `max_count`",
  params: {
    window_ms: windowMs,
    max_count: { type: "integer", min: 1, max: 1_000_000_000 },
    kind: {
      type: "word",
      words: ["tool_call", "tool_list", "model_call", "message", "handoff", "approval", "other"],
      optional: true
    }
  },
  kinds: ["decision.witnessed"],
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const only = params["kind"]
    const series = new Series(0)
    return {
      add: ({ atMs, body, kind, seq }) => {
        if (kind === "decision.witnessed" && (only === undefined || body["kind"] === only)) series.add(seq, atMs, [])
      },
      read: ({ ms, seq }) => {
        const { end, first } = series.within(ms, windowLength, seq)
        const samples = end - first
        return {
          value: String(samples),
          samples,
          tripped: samples > Number(params["max_count"]),
          fromSeq: samples === 0 ? null : series.seqAt(first),
          toSeq: samples === 0 ? null : series.seqAt(end - 1)
        }
      },
      forget: (beforeMs) => series.forget(beforeMs - windowLength)
    }
  }
}
