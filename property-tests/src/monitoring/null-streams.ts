/** Streams of inferences whose chance to fail is exactly the threshold of a monitor: each alert on them is false. */
import type { MonitorCreate } from "@flyball/contract"
import { Result } from "effect"
import { generator } from "../../../packages/statistics/src/index.ts"
import { planCheck } from "../../../packages/platform/src/monitoring/plan-check.ts"
import { planCreateMonitor, readMonitor } from "../../../packages/platform/src/monitoring/plan-create.ts"

/** The threshold of every stream, and the chance of each inference. */
const SHARE = 0.05
/** Inferences of a call, and calls of a stream: a call every 15 seconds, 20 in a window. */
const BATCH = 50
const CALLS = 400
const EVERY_MS = 15_000
/** The bound of mode `anytime`. */
export const ALPHA = 0.05

/** Alerts on so many streams, of a monitor of each mode; and on as many whose chance is three times as high. */
export interface NullStreams {
  readonly streams: number
  readonly anytime: number
  readonly threshold: number
  readonly found: number
}

/** True when a monitor alerts on a stream of this chance. */
const alerts = (more: Partial<MonitorCreate>, share: number, next: () => number): boolean => {
  const read = Result.getOrThrow(
    readMonitor({
      name: "n",
      model_id: "m",
      metric: "error_rate",
      comparator: "above",
      threshold: SHARE,
      ...more
    })
  )
  let nowMs = 1_700_000_000_000
  let { body } = planCreateMonitor("mon", read, { orgUnit: "ops", nowMs, writer: "usr", limit: null })
  for (let call = 0; call < CALLS; call++) {
    nowMs += EVERY_MS
    const at = new Date(nowMs).toISOString()
    const arrived = Array.from({ length: BATCH }, (_, row) => ({
      atMs: nowMs,
      inference: { model_id: "m", inference_id: String(row), at, prediction: 1, error: next() < share }
    }))
    body = planCheck({ stored: { id: "mon", version: 1, body }, open: null, newAlertId: "alt", nowMs }, arrived).body
    if (body.state.alert !== null) return true
  }
  return false
}

/** Runs the streams, each of 20,000 inferences; of streams with an effect as many. */
export const nullStreams = (streams: number, seed: string): NullStreams => {
  const bits = generator(new TextEncoder().encode(seed.padEnd(16, "0").slice(0, 16)))
  const next = () => bits.next() / 4_294_967_296
  const count = (more: Partial<MonitorCreate>, share: number): number => {
    let found = 0
    for (let stream = 0; stream < streams; stream++) if (alerts(more, share, next)) found++
    return found
  }
  return {
    streams,
    anytime: count({ mode: "anytime", alpha: ALPHA }, SHARE),
    threshold: count({}, SHARE),
    found: count({ mode: "anytime", alpha: ALPHA }, 3 * SHARE)
  }
}
