/** `mcp_manifest_changed`: lists of tools that the agent saw and that do not count as approved. */
import { type Metric, windowMs } from "../metric.ts"
import { Series } from "../series.ts"

/** The metric. */
export const mcpManifestChanged: Metric = {
  name: "mcp_manifest_changed",
  about: "Lists of tools that the agent saw, and that nobody approved: other than the pinned or the first one.",
  trips: "at `max_count` and above",
  params: {
    window_ms: { ...windowMs, default: 86_400_000 },
    max_count: { type: "integer", min: 1, max: 1_000_000, default: 1 }
  },
  kinds: ["mcp.manifest_seen"],
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const series = new Series(0)
    return {
      add: ({ atMs, body, kind, seq }) => {
        if (kind === "mcp.manifest_seen" && body["trusted"] === false) series.add(seq, atMs, [])
      },
      read: ({ ms, seq }) => {
        const { end, first } = series.within(ms, windowLength, seq)
        const samples = end - first
        return {
          value: String(samples),
          samples,
          tripped: samples >= Number(params["max_count"]),
          fromSeq: samples === 0 ? null : series.seqAt(first),
          toSeq: samples === 0 ? null : series.seqAt(end - 1)
        }
      },
      forget: (beforeMs) => series.forget(beforeMs - windowLength)
    }
  }
}
