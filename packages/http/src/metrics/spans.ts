/** Metrics of tracing: spans by outcome, and those that wait. */
import type { MetricFamily } from "@flyball/core"
import { gauge } from "./exposition.ts"
import type { TracingApi } from "../telemetry/tracing.ts"

/** Metrics of tracing; none where no collector is configured. */
export const spanFamilies = (tracing: TracingApi | null): ReadonlyArray<MetricFamily> => {
  if (tracing === null) return []
  const { dropped, exported, waiting } = tracing.counts()
  return [
    {
      name: "flyball_trace_spans_total",
      type: "counter",
      help: "Finished spans that a collector accepted (exported), or that were lost because it did not (dropped).",
      samples: [
        { labels: { outcome: "exported" }, value: exported },
        { labels: { outcome: "dropped" }, value: dropped }
      ]
    },
    gauge("flyball_trace_spans_waiting", "Finished spans that wait to be sent, or are being sent.", waiting)
  ]
}
