/** The monitors of a chain up to a record, as records tell of them. */
import type { MonitorChangedBody } from "@flyball/evidence"
import type { MonitorRule } from "./reading.ts"

/** A monitor. */
export interface KnownMonitor {
  readonly created: MonitorChangedBody
  readonly rule: MonitorRule
  /** Counts that `drift_psi` compares with; null where they are not shown. */
  readonly reference: ReadonlyArray<number> | null
  /** Its open alert. */
  alert: { readonly id: string; readonly cause: "threshold" | "no_data"; readonly fromMs: number } | null
  /** When its last alert began or ended. */
  movedMs: number
  /** The last wager that won. */
  wagers: number
  /** `closing`: its alert was resolved because it is deleted. */
  status: "active" | "closing" | "deleted"
}

/** The rule of a monitor, as its record says it. */
export const ruleOf = (body: MonitorChangedBody): MonitorRule => ({
  metric: body.metric,
  comparator: body.comparator,
  threshold: Number(body.threshold),
  clearThreshold: Number(body.clear_threshold),
  windowMs: body.window_ms,
  minSamples: body.min_samples,
  pendingMs: body.pending_ms,
  clearMs: body.clear_ms,
  noDataMs: body.no_data_ms ?? null,
  onNoData: body.on_no_data,
  alpha: body.alpha === undefined ? null : Number(body.alpha)
})
