/** `denial_rate`: refused evaluations among all. */
import { type Metric, minSamples, thresholdBp, windowMs } from "../metric.ts"
import { shareFold } from "../share.ts"

/** The rule that names a halt in force: such an evaluation says nothing of what the agent intends. */
const KILLED = "@killed"

/** The metric. */
export const denialRate: Metric = {
  name: "denial_rate",
  about: "Evaluations with the outcome `deny` or `halt` among all. Those under a halt (`@killed`) do not count.",
  trips: "at `threshold_bp` and above",
  params: { window_ms: windowMs, min_samples: minSamples, threshold_bp: thresholdBp },
  kinds: ["evaluation.made"],
  isRate: true,
  reachMs: (params) => Number(params["window_ms"]),
  start: (params, _, confidenceBp) =>
    shareFold(params, confidenceBp, ({ body, kind }) =>
      kind !== "evaluation.made" || body["matched_rule"] === KILLED
        ? null
        : body["outcome"] === "deny" || body["outcome"] === "halt"
    )
}
