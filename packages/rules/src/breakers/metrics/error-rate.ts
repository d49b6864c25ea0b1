/** `error_rate`: failed decisions among those that ended. The counts and the share are computed by `../share.ts`. */
import { type Metric, minSamples, thresholdBp, windowMs } from "../metric.ts"
import { outcomeKinds, outcomeOf, shareFold } from "../share.ts"

/** The metric. */
export const errorRate: Metric = {
  name: "error_rate",
  about: "Decisions that ended in `error` among all that ended: witnessed with an outcome, or settled.",
  trips: "at `threshold_bp` and above",
  params: { window_ms: windowMs, min_samples: minSamples, threshold_bp: thresholdBp },
  kinds: outcomeKinds,
  isRate: true,
  reachMs: (params) => Number(params["window_ms"]),
  start: (params, _, confidenceBp) =>
    shareFold(params, confidenceBp, (record) => {
      const outcome = outcomeOf(record)
      return outcome === null ? null : outcome === "error"
    })
}
