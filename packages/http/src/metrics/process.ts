/** Metrics of the process, under the names that dashboards for Prometheus know. */
import type { MetricFamily } from "@flyball/core"
import { Context, Metric } from "effect"
import { gauge } from "./exposition.ts"

/** Time between two samples of the event loop. Unit: milliseconds. */
const RESOLUTION_MS = 20

const lag = Metric.histogram("nodejs_eventloop_lag_seconds", {
  description: "Delay of a timer behind its due time, sampled every 20 ms from the first reading of the metrics on.",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
})

/** Registries in which the event loop is measured already. */
const measured = new WeakSet<object>()

/** Begins to sample the event loop at the first reading: a server whose metrics nobody reads pays nothing. */
const sampleEventLoop = (context: Context.Context<never>, registry: object): void => {
  if (measured.has(registry)) return
  measured.add(registry)
  lag.valueUnsafe(context)
  let dueMs = performance.now() + RESOLUTION_MS
  setInterval(() => {
    const nowMs = performance.now()
    lag.updateUnsafe(Math.max(0, nowMs - dueMs) / 1_000, context)
    dueMs = nowMs + RESOLUTION_MS
  }, RESOLUTION_MS).unref()
}

/** Metrics of the process. The delay of the event loop is counted in the registry of `context`. */
export const processFamilies = (version: string, context: Context.Context<never>): ReadonlyArray<MetricFamily> => {
  sampleEventLoop(context, Context.get(context, Metric.MetricRegistry))
  const { heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  return [
    gauge("flyball_build_info", "1; the version is its label.", 1, { version }),
    {
      name: "process_cpu_seconds_total",
      type: "counter",
      help: "User and system processor time of the process.",
      samples: [{ labels: {}, value: (user + system) / 1e6 }]
    },
    gauge("process_start_time_seconds", "Start of the process, in seconds since 1970 UTC.", startSeconds),
    gauge("process_resident_memory_bytes", "Resident memory of the process.", rss),
    gauge("nodejs_heap_size_used_bytes", "JavaScript heap in use.", heapUsed)
  ]
}

/** Fixed: a clock that steps must not appear as a restart. */
const startSeconds = performance.timeOrigin / 1_000
