/** How many spans there were, and what became of them. */
import type { Family } from "../metrics/exposition.ts"
import type { TracingApi } from "./tracing.ts"

/** Measurements of tracing; none where no collector is configured. */
export const spanFamilies = (tracing: TracingApi | null): ReadonlyArray<Family> => {
  if (tracing === null) return []
  const { dropped, exported, waiting } = tracing.counts()
  return [
    {
      name: "flyball_trace_spans_total",
      type: "counter",
      help: "Finished spans that a collector took (exported) or that were lost because it did not (dropped).",
      samples: [
        { labels: { outcome: "exported" }, value: exported },
        { labels: { outcome: "dropped" }, value: dropped }
      ]
    },
    {
      name: "flyball_trace_spans_waiting",
      type: "gauge",
      help: "Finished spans that wait to be sent, or are on their way.",
      samples: [{ value: waiting }]
    }
  ]
}
