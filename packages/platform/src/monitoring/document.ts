/** Monitors, alerts and inferences as state. Plain data; times in milliseconds since 1970 UTC. */
import type { Alert, Inference, Monitor, Reference } from "@flyball/contract"
import { type ListEntry, listKeys, monitorKeys, MONITORS, sortable } from "@flyball/core"
import type { Document, DocumentPut, JsonObject, JsonValue } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { type MonitorRule, type MonitorState, wagerOf } from "@flyball/rules"
import type { Tally } from "./tally.ts"

/** Collection of alerts, under their ids. */
export const ALERTS = "alerts"
/** Collection of inferences: a document a call and model, in columns. */
export const INFERENCES = "inferences"

/** The members of an inference that a monitor counts. */
export type Counted = {
  readonly field: string | null
  readonly value: string | number | boolean | null
  readonly segment: string | null
  readonly reference: Reference | null
}

/** A wager of mode `anytime`: counts since `fromMs`, in one period. */
export type Wager = {
  readonly number: number
  /** The period of the length of the window, counted from 1970; -1: the next data begin another wager. */
  readonly period: number
  readonly fromMs: number
  readonly samples: number
  readonly count: number
}

/** A monitor. */
export type MonitorDocument = Counted & {
  readonly owner: string
  readonly orgUnit: string
  readonly name: string
  readonly modelId: string
  readonly rule: MonitorRule
  readonly severity: Alert["severity"]
  readonly createdAtMs: number
  readonly status: "active" | "deleted"
  /** Its definition was erased: it counts nothing. */
  readonly isErased: boolean
  readonly state: MonitorState
  /** Counts of each tenth of the window. */
  readonly slots: { readonly [slot: string]: Tally }
  readonly wager: Wager
  /** The reading of its window at the last check. */
  readonly seen: { readonly samples: number; readonly value: number | null }
  readonly dueMs: number | null
}

/** An alert. */
export type AlertDocument = {
  readonly owner: string
  readonly orgUnit: string
  readonly monitorId: string
  readonly modelId: string
  readonly rule: MonitorRule
  readonly cause: Alert["cause"]
  readonly severity: Alert["severity"]
  readonly value: number
  readonly samples: number
  readonly counts: ReadonlyArray<number>
  readonly fromMs: number
  readonly triggeredAtMs: number
  /** The number of the wager that won; null in mode `threshold`. */
  readonly wagers: number | null
  readonly resolvedAtMs: number | null
  readonly reason: Alert["resolved_because"]
}

/** A document with its version. */
export interface Stored<A> {
  readonly id: string
  readonly version: number
  readonly body: A
}

/** Reads the monitor of a document. */
export const storedMonitor = ({ body, id, version }: Document): Stored<MonitorDocument> => ({
  id,
  version,
  body: body as unknown as MonitorDocument
})
/** Reads the alert of a document. */
export const storedAlert = ({ body, id, version }: Document): Stored<AlertDocument> => ({
  id,
  version,
  body: body as unknown as AlertDocument
})

const statusOf = ({ resolvedAtMs }: AlertDocument): Alert["status"] =>
  resolvedAtMs === null ? "triggered" : "resolved"

/** The place of a monitor in lists. */
export const listedMonitor = ({ body, id }: Document): ListEntry => {
  const { createdAtMs, owner } = body as unknown as MonitorDocument
  return { id, owner, createdAtMs }
}
/** The place of an alert in lists, and its filter. */
export const listedAlert = ({ body, id }: { readonly id: string; readonly body: JsonObject }): ListEntry => {
  const alert = body as unknown as AlertDocument
  return { id, owner: alert.owner, createdAtMs: alert.triggeredAtMs, filters: { status: statusOf(alert) } }
}

/** Puts a monitor over the version that was read; 0: a new one. */
export const putMonitor = ({ body: monitor, id, version }: Stored<MonitorDocument>): DocumentPut => {
  const body = monitor as unknown as JsonObject
  return { collection: MONITORS, id, expectedVersion: version, body, keys: monitorKeys(id, body) }
}
/** Puts an alert over the version that was read; 0: a new one. */
export const putAlert = ({ body: alert, id, version }: Stored<AlertDocument>): DocumentPut => {
  const body = alert as unknown as JsonObject
  return { collection: ALERTS, id, expectedVersion: version, body, keys: listKeys(listedAlert({ id, body })) }
}

/** Puts inferences of one model as columns. A column that nobody filled is left out. */
export const putInferences = (
  id: string,
  owner: string,
  modelId: string,
  inferences: ReadonlyArray<Inference>,
  nowMs: number
): DocumentPut => {
  const columns: { [name: string]: Array<JsonValue> } = {}
  for (const [row, inference] of inferences.entries()) {
    const { features, model_id: _, ...plain } = inference
    for (const [name, value] of [...Object.entries(plain), ...named(features ?? {})]) {
      if (value === null || value === undefined) continue
      const column = (columns[name] ??= new Array<JsonValue>(inferences.length).fill(null))
      column[row] = value
    }
  }
  const body = { owner, modelId, receivedAtMs: nowMs, count: inferences.length, columns }
  return { collection: INFERENCES, id, expectedVersion: 0, body, keys: { received: sortable(nowMs) } }
}
const named = (features: NonNullable<Inference["features"]>) =>
  Object.entries(features).map(([name, value]) => [`features.${name}`, value] as const)

const seconds = (ms: number): number => ms / 1_000

/** Shows a monitor. */
export const monitorOut = ({ body, id }: Stored<MonitorDocument>): Monitor => {
  const { rule, seen, state } = body
  return {
    id,
    model_id: body.modelId,
    name: body.name,
    metric: rule.metric,
    field: body.field,
    value: body.value,
    reference: body.reference,
    segment: body.segment,
    comparator: rule.comparator,
    threshold: rule.threshold,
    clear_threshold: rule.clearThreshold,
    window_s: seconds(rule.windowMs),
    min_samples: rule.minSamples,
    pending_s: seconds(rule.pendingMs),
    clear_s: seconds(rule.clearMs),
    no_data_s: rule.noDataMs === null ? null : seconds(rule.noDataMs),
    on_no_data: rule.onNoData,
    severity: body.severity,
    mode: rule.alpha === null ? "threshold" : "anytime",
    alpha: rule.alpha,
    state: shownState(body),
    state_since: formatInstant(state.sinceMs),
    value_now: seen.value,
    samples: seen.samples,
    alert_id: state.alert?.id ?? null,
    last_data_at: state.hasData && rule.noDataMs !== null ? formatInstant(state.lastDataMs) : null,
    created_at: formatInstant(body.createdAtMs)
  }
}

/** The state of a monitor in a word. */
export const shownState = ({ state, status }: MonitorDocument): Monitor["state"] =>
  status === "deleted" ? "deleted" : state.phase

/** The members that events and answers share. */
export const alertData = (id: string, body: AlertDocument) => {
  const isSilence = body.cause === "no_data"
  return {
    id,
    monitor_id: body.monitorId,
    model_id: body.modelId,
    metric: isSilence ? "no_data" : body.rule.metric,
    value: body.value,
    threshold: isSilence ? seconds(body.rule.noDataMs!) : body.rule.threshold,
    severity: body.severity,
    message: messageOf(body)
  }
}

const messageOf = ({ cause, fromMs, modelId, rule, samples, triggeredAtMs, value }: AlertDocument): string => {
  if (cause === "no_data") return `No inference of ${modelId} came for ${value} seconds.`
  const [shown, lasts] = [Number(value.toPrecision(4)), Math.round(seconds(triggeredAtMs - fromMs))]
  const bound = rule.alpha === null ? "" : ` False with a chance of ${rule.alpha} at most.`
  const side = `${rule.comparator} ${rule.threshold}`
  return `${rule.metric} of ${modelId} is ${shown}, ${side}, over ${samples} inferences in ${lasts} seconds.${bound}`
}

/** Shows an alert. */
export const alertOut = ({ body, id }: Stored<AlertDocument>): Alert => {
  const { counts, rule, samples, wagers } = body
  const wager = wagers === null ? null : wagerOf(rule, wagers, { counts, samples })
  return {
    ...alertData(id, body),
    status: statusOf(body),
    cause: body.cause,
    created_at: formatInstant(body.triggeredAtMs),
    triggered_at: formatInstant(body.triggeredAtMs),
    resolved_at: body.resolvedAtMs === null ? null : formatInstant(body.resolvedAtMs),
    resolved_because: body.reason,
    evidence: {
      window_from: formatInstant(body.fromMs),
      window_to: formatInstant(body.triggeredAtMs),
      samples,
      counts,
      log_e: wager?.logE ?? null,
      log_e_needed: wager?.needed ?? null
    }
  }
}

/** The counter of an org unit's monitors. */
export const monitorsOf = (owner: string): string => `${owner}:monitors`

/** Writes the body of a record that states a whole monitor. */
export const monitorBody = (id: string, { modelId, rule, status }: MonitorDocument, writer: string): JsonObject => ({
  ...(rule.alpha === null ? {} : { alpha: String(rule.alpha) }),
  clear_ms: rule.clearMs,
  clear_threshold: String(rule.clearThreshold),
  comparator: rule.comparator,
  metric: rule.metric,
  min_samples: rule.minSamples,
  mode: rule.alpha === null ? "threshold" : "anytime",
  model_id: modelId,
  monitor_id: id,
  ...(rule.noDataMs === null ? {} : { no_data_ms: rule.noDataMs }),
  on_no_data: rule.onNoData,
  pending_ms: rule.pendingMs,
  status,
  threshold: String(rule.threshold),
  window_ms: rule.windowMs,
  writer
})
