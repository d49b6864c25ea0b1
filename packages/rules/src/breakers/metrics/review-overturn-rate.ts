/** `review_overturn_rate`: rejected reviews among those that people ended. */
import { type Metric, minSamples, thresholdBp, windowMs } from "../metric.ts"
import { shareFold } from "../share.ts"

/** The metric. */
export const reviewOverturnRate: Metric = {
  name: "review_overturn_rate",
  about: "Reviews that people rejected among those that they ended. Expired and cancelled ones do not count.",
  trips: "at `threshold_bp` and above",
  params: { window_ms: windowMs, min_samples: minSamples, threshold_bp: thresholdBp },
  kinds: ["review.resolved"],
  isRate: true,
  reachMs: (params) => Number(params["window_ms"]),
  start: (params, _, confidenceBp) =>
    shareFold(params, confidenceBp, ({ body, kind }) =>
      kind !== "review.resolved" || body["ends"] !== true ? null : body["resolution"] === "reject"
    )
}
