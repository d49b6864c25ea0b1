/** `effect_missing_rate`: allowed actions without a recorded outcome. */
import { type Metric, minSamples, thresholdBp, windowMs } from "../metric.ts"
import { Series } from "../series.ts"
import { shareReading } from "../share.ts"

/** The metric. */
export const effectMissingRate: Metric = {
  name: "effect_missing_rate",
  about:
    "Evaluations that allowed an action and whose `evaluation_id` no decision with an outcome names, among those " +
    "made at least `within_ms` ago. A late outcome counts as one.",
  trips: "at `threshold_bp` and above",
  params: {
    window_ms: windowMs,
    within_ms: { type: "integer", min: 1_000, max: 31_622_400_000, default: 60_000 },
    min_samples: minSamples,
    threshold_bp: thresholdBp
  },
  kinds: ["evaluation.made", "decision.witnessed", "decision.settled"],
  isRate: true,
  isAbsence: true,
  reachMs: (params) => Number(params["window_ms"]) + Number(params["within_ms"]),
  start: (params, _, confidenceBp) => {
    const windowLength = Number(params["window_ms"])
    const withinMs = Number(params["within_ms"])
    const series = new Series(1)
    /** Evaluations without an outcome so far, by id, in order; and decisions that intend one, by record. */
    const open = new Map<string, number>()
    const intended = new Map<number, string>()
    const ended = (evaluationId: string, seq: number): void => {
      const position = open.get(evaluationId)
      if (position === undefined) return
      open.delete(evaluationId)
      series.correct(position, seq, 0, -1)
    }
    return {
      add: ({ atMs, body, kind, seq }) => {
        if (kind === "evaluation.made" && (body["outcome"] === "allow" || body["outcome"] === "allow_with_notice"))
          open.set(String(body["evaluation_id"]), series.add(seq, atMs, [1]))
        if (kind === "decision.witnessed" && typeof body["evaluation_id"] === "string") {
          if (body["status"] !== "intended") ended(body["evaluation_id"], seq)
          else if (open.has(body["evaluation_id"])) intended.set(seq, body["evaluation_id"])
        }
        if (kind === "decision.settled") {
          const evaluationId = intended.get(Number(body["decision_seq"]))
          intended.delete(Number(body["decision_seq"]))
          if (evaluationId !== undefined) ended(evaluationId, seq)
        }
      },
      read: ({ ms, seq }) => {
        const range = series.within(ms - withinMs, windowLength, seq)
        return shareReading(series, range, series.sum(0, range, seq), params, confidenceBp)
      },
      forget: (beforeMs) => {
        series.forget(beforeMs - windowLength - withinMs)
        for (const [id, position] of open) {
          if (position >= series.held.first) break
          open.delete(id)
        }
        for (const [seq, id] of intended) if (!open.has(id)) intended.delete(seq)
      }
    }
  }
}
