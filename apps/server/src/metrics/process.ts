/** What the process says of itself: how long it runs, how much memory it holds, how late its timers are. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Family } from "./exposition.ts"

const gauge = (
  name: string,
  help: string,
  value: number | null,
  labels: { readonly [name: string]: string } = {}
): Family => ({ name, type: "gauge", help, samples: value === null ? [] : [{ labels, value }] })

/** How often the delay is looked at. Unit: milliseconds. */
const RESOLUTION_MS = 20

let delay: ReturnType<typeof monitorEventLoopDelay> | null = null

/**
 * The 99th percentile of the event loop's delay since this was last asked, in seconds; null at the first time, from
 * which on it is measured: who never asks pays nothing.
 */
const eventLoopDelay = (): number | null => {
  if (delay === null) {
    delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    delay.enable()
    return null
  }
  const { count } = delay
  // What is measured is the time between two looks, of which the resolution is none.
  const seconds = count === 0 ? null : Math.max(0, delay.percentile(99) / 1e9 - RESOLUTION_MS / 1_000)
  delay.reset()
  return seconds
}

/** Measurements of the process. */
export const processFamilies = (version: string): ReadonlyArray<Family> => {
  const { heapUsed, rss } = process.memoryUsage()
  return [
    gauge("flyball_build_info", "1; the version is its label.", 1, { version }),
    gauge("flyball_process_uptime_seconds", "Time since the process started.", process.uptime()),
    gauge("flyball_process_resident_memory_bytes", "Memory that the process holds.", rss),
    gauge("flyball_process_heap_used_bytes", "JavaScript heap in use.", heapUsed),
    gauge(
      "flyball_process_event_loop_delay_p99_seconds",
      "How late the event loop was at worst, but for one in a hundred looks, since the metrics were last read.",
      eventLoopDelay()
    )
  ]
}
