/** Steps of a monitor: hysteresis, pending time, silence, and one alert from trigger to end. Pure. */
import type { MonitorRule, Verdict } from "./reading.ts"

/** The rule that opens and ends alerts. */
export const MONITOR_WRITER = "policy:monitor"

/** Where a monitor stands. Units: milliseconds since 1970 UTC. */
export type MonitorState = {
  readonly phase: "ok" | "pending" | "triggered" | "no_data"
  /** Since when it is in this phase. */
  readonly sinceMs: number
  /** Since when its value is beyond the threshold of clearing, while an alert is open. */
  readonly clearSinceMs: number | null
  /** When the last inference came; when the monitor was created before the first. */
  readonly lastDataMs: number
  readonly hasData: boolean
  /** True when the last check found that nothing comes any more. */
  readonly isQuiet: boolean
  readonly alert: { readonly id: string; readonly cause: "threshold" | "no_data" } | null
}

/** The acts of a step beside moving the state. */
export type MonitorAct =
  | { readonly type: "trigger"; readonly cause: "threshold" | "no_data"; readonly before: "ok" | "pending" | "no_data" }
  | { readonly type: "resolve"; readonly reason: "recovered" | "data" | "no_data" }

/** A step. `sinceMs`: since when what decided it lasts. */
export interface MonitorStep {
  readonly state: MonitorState
  readonly act: MonitorAct | null
  readonly sinceMs: number
}

/** The state of a monitor that was created now. */
export const newState = ({ noDataMs }: MonitorRule, nowMs: number): MonitorState => ({
  phase: noDataMs === null ? "ok" : "no_data",
  sinceMs: nowMs,
  clearSinceMs: null,
  lastDataMs: nowMs,
  hasData: noDataMs === null,
  isQuiet: false,
  alert: null
})

/**
 * Moves a monitor on. At most one alert begins or ends in a step; where a second may follow at once, the state says so
 * at the next check. `newId` is the id of an alert that begins.
 */
export const stepMonitor = (
  rule: MonitorRule,
  before: MonitorState,
  verdict: Verdict,
  nowMs: number,
  newId: string
): MonitorStep => {
  const to = (phase: MonitorState["phase"], change: Partial<MonitorState> = {}): MonitorState => ({
    ...before,
    phase,
    sinceMs: before.phase === phase ? before.sinceMs : nowMs,
    clearSinceMs: null,
    isQuiet: false,
    ...change
  })
  const still = (state: MonitorState): MonitorStep => ({ state, act: null, sinceMs: nowMs })
  const { alert } = before
  if (rule.noDataMs !== null && nowMs - before.lastDataMs >= rule.noDataMs) {
    const quiet = to("no_data", { isQuiet: true })
    if (alert === null && rule.onNoData === "alert")
      return {
        state: { ...quiet, alert: { id: newId, cause: "no_data" } },
        act: { type: "trigger", cause: "no_data", before: before.phase === "triggered" ? "ok" : before.phase },
        sinceMs: before.lastDataMs
      }
    if (alert?.cause === "threshold" && rule.onNoData === "resolve")
      return {
        state: { ...quiet, alert: null },
        act: { type: "resolve", reason: "no_data" },
        sinceMs: before.lastDataMs
      }
    return still(quiet)
  }
  if (!before.hasData) return still(before)
  if (alert?.cause === "no_data")
    return { state: to("ok", { alert: null }), act: { type: "resolve", reason: "data" }, sinceMs: nowMs }
  if (alert !== null) {
    if (verdict !== "clear") return still(to("triggered"))
    const clearSinceMs = before.phase === "no_data" ? nowMs : (before.clearSinceMs ?? nowMs)
    return nowMs - clearSinceMs >= rule.clearMs
      ? {
          state: to("ok", { alert: null }),
          act: { type: "resolve", reason: "recovered" },
          sinceMs: clearSinceMs
        }
      : still(to("triggered", { clearSinceMs }))
  }
  if (verdict !== "breach") return still(to("ok"))
  const pending = to("pending")
  return nowMs - pending.sinceMs >= rule.pendingMs
    ? {
        state: to("triggered", { alert: { id: newId, cause: "threshold" } }),
        act: { type: "trigger", cause: "threshold", before: before.phase === "triggered" ? "ok" : before.phase },
        sinceMs: pending.sinceMs
      }
    : still(pending)
}

/** When time alone moves a monitor next; null: never. `nextSlotMs`: when its window loses something; null: never. */
export const dueOf = (
  { clearMs, noDataMs, pendingMs }: MonitorRule,
  { clearSinceMs, isQuiet, lastDataMs, phase, sinceMs }: MonitorState,
  nextSlotMs: number | null
): number | null => {
  const times = [
    nextSlotMs,
    noDataMs === null || isQuiet ? null : lastDataMs + noDataMs,
    phase === "pending" ? sinceMs + pendingMs : null,
    clearSinceMs === null ? null : clearSinceMs + clearMs
  ].filter((ms) => ms !== null)
  return times.length === 0 ? null : Math.min(...times)
}
