/** `action_velocity`: decisions of a window. */
import { decisionKinds } from "@flyball/evidence/words"
import { GroupedWindow } from "../grouped.ts"
import { type Metric, windowMs } from "../metric.ts"

/** The metric. */
export const actionVelocity: Metric = {
  name: "action_velocity",
  about:
    "Witnessed decisions; with `kind` only those of one kind; with `per` `run` those of the run that has most. " +
    "Without a run they count as one.",
  trips: "above `max_count`",
  params: {
    window_ms: windowMs,
    max_count: { type: "integer", min: 1, max: 1_000_000_000 },
    kind: {
      type: "word",
      words: decisionKinds,
      optional: true
    },
    per: { type: "word", words: ["agent", "run"], optional: true }
  },
  kinds: ["decision.witnessed"],
  perRun: { threshold: "max_count", beyond: 0 },
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const only = params["kind"]
    const most = BigInt(params["max_count"]!)
    const window = new GroupedWindow()
    return {
      add: ({ atMs, body, kind, seq }) => {
        if (kind !== "decision.witnessed" || (only !== undefined && body["kind"] !== only)) return
        window.add(seq, atMs, params["per"] === "run" ? String(body["run_id"] ?? "") : "", 1)
      },
      read: ({ ms, seq }) => {
        const { sum, ...reading } = window.within(ms, windowLength, seq)
        return { value: String(sum), tripped: sum > most, ...reading }
      },
      forget: (beforeMs) => window.forget(beforeMs - windowLength)
    }
  }
}
