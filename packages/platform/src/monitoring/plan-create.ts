/** Plans the creation of a monitor. Pure. Spec: api.md "Document 2". */
import { detailItem, InvalidInput, type MonitorCreate, monitoringBounds } from "@flyball/contract"
import { unitOwner } from "@flyball/core"
import type { ChangeSet, JsonObject } from "@flyball/core/storage"
import { canonicalBytes } from "@flyball/evidence"
import { type MonitorRule, newState, shareMetrics } from "@flyball/rules"
import { Result } from "effect"
import { type MonitorDocument, monitorsOf, putMonitor, monitorBody } from "./document.ts"

/** Members that some metrics need, and others do not have. */
const needs = {
  field: ["missing_rate", "drift_psi"],
  value: ["prediction_rate"],
  reference: ["drift_psi"]
} as const

/**
 * Reads a new monitor.
 *
 * - Refuses (`InvalidInput`): a member that the metric lacks or does not have, thresholds in the wrong order, a mode
 *   `anytime` that has no bound.
 */
export const readMonitor = (
  input: MonitorCreate
): Result.Result<Omit<MonitorDocument, "orgUnit" | "owner" | "createdAtMs" | "state" | "dueMs">, InvalidInput> => {
  const rule = ruleOf(input)
  const found = problemOf(input, rule)
  if (found !== null) {
    const [member, msg] = found
    return Result.fail(new InvalidInput({ detail: [detailItem(["body", member], "value_error", msg, null)] }))
  }
  return Result.succeed({
    name: input.name,
    modelId: input.model_id,
    field: input.field ?? null,
    value: input.value ?? null,
    segment: input.segment ?? null,
    reference: input.reference ?? null,
    rule,
    severity: input.severity ?? "warning",
    status: "active",
    isErased: false,
    slots: {},
    wager: { number: 0, period: -1, fromMs: 0, samples: 0, count: 0 },
    seen: { samples: 0, value: null }
  })
}

/** The least and the most that a value of a metric can be. */
const rangeOf = (metric: MonitorCreate["metric"]): readonly [least: number, most: number] =>
  metric === "score_mean"
    ? [-monitoringBounds.score, monitoringBounds.score]
    : [0, shareMetrics.includes(metric) ? 1 : Infinity]

/** A tenth of the threshold inside it, and at most half way to the best value: beyond that no alert would end. */
const clearOf = ({ comparator, metric, threshold }: MonitorCreate): number => {
  const [least, most] = rangeOf(metric)
  const [side, best] = comparator === "above" ? [1, least] : [-1, most]
  const inside = Math.min(Math.abs(threshold) / 10, Math.abs(threshold - best) / 2)
  return Number((threshold - side * inside).toPrecision(12))
}

const ruleOf = (input: MonitorCreate): MonitorRule => {
  const { comparator, metric, threshold } = input
  const { alpha, clearS, minSamples, windowS } = monitoringBounds
  const windowMs = (input.window_s ?? windowS.default) * 1_000
  return {
    metric,
    comparator,
    threshold,
    clearThreshold: input.clear_threshold ?? clearOf(input),
    windowMs,
    minSamples: input.min_samples ?? minSamples,
    pendingMs: (input.pending_s ?? 0) * 1_000,
    clearMs: (input.clear_s ?? clearS) * 1_000,
    noDataMs: metric === "volume" ? null : (input.no_data_s ?? windowMs / 1_000) * 1_000,
    onNoData: input.on_no_data ?? "keep",
    alpha: input.mode === "anytime" ? (input.alpha ?? alpha) : null
  }
}

const problemOf = (input: MonitorCreate, rule: MonitorRule): readonly [member: string, msg: string] | null => {
  const { alpha, clearThreshold, comparator, metric, pendingMs, threshold } = rule
  for (const [member, metrics] of Object.entries(needs) as ReadonlyArray<[keyof typeof needs, ReadonlyArray<string>]>) {
    const isThere = (input[member] ?? null) !== null
    if (metrics.includes(metric) !== isThere)
      return [member, isThere ? `${metric} has no such member` : `${metric} needs it`]
  }
  const [least, most] = rangeOf(metric)
  if (comparator === "above" ? threshold >= most : threshold <= least)
    return [
      "threshold",
      `${metric} is ${least} ${most === Infinity ? "or more" : `to ${most}`}, and never ${comparator} it`
    ]
  if (comparator === "above" ? clearThreshold <= least : clearThreshold >= most) {
    const member = (input.clear_threshold ?? null) === null ? "threshold" : "clear_threshold"
    return [member, `No value of ${metric} is beyond ${clearThreshold}: an alert would never end`]
  }
  const side = comparator === "above" ? 1 : -1
  if (side * clearThreshold > side * threshold)
    return ["clear_threshold", `It should not be ${comparator} the threshold, so that an alert can end`]
  if (metric === "volume" && ((input.no_data_s ?? null) !== null || rule.onNoData !== "keep"))
    return ["no_data_s", "volume counts silence as 0: it has no such member"]
  if (input.reference !== undefined && input.reference !== null) return referenceProblem(input.reference)
  if (alpha === null) return (input.alpha ?? null) === null ? null : ["alpha", "Only the mode anytime has it"]
  if (!shareMetrics.includes(metric)) return ["mode", `anytime is for shares: ${shareMetrics.join(", ")}`]
  if (threshold <= 0 || threshold >= 1) return ["threshold", "In the mode anytime it should lie between 0 and 1"]
  return pendingMs === 0 ? null : ["pending_s", "The mode anytime needs no waiting: its bound holds at every check"]
}

const referenceProblem = ({
  counts,
  edges = null,
  values = null
}: NonNullable<MonitorCreate["reference"]>): readonly [member: string, msg: string] | null => {
  const bins = (edges ?? values)?.length
  if (bins === undefined || (edges !== null && values !== null)) return ["reference", "It needs values, or else edges"]
  if (counts.length !== bins + 1) return ["reference", `It needs ${bins + 1} counts: one more than values or edges`]
  if (edges?.some((edge, at) => at > 0 && edge <= edges[at - 1]!) === true) return ["reference", "Edges should rise"]
  if (values !== null && new Set(values).size < values.length) return ["reference", "Each value should be there once"]
  return counts.some((count) => count > 0) ? null : ["reference", "A count should be above 0"]
}

/** Plans a monitor: its document, its record, and its place among those that the plan allows. */
export const planCreateMonitor = (
  id: string,
  read: ReturnType<typeof readMonitor> extends Result.Result<infer A, unknown> ? A : never,
  {
    limit,
    nowMs,
    orgUnit,
    writer
  }: {
    readonly orgUnit: string
    readonly nowMs: number
    readonly writer: string
    readonly limit: number | null
  }
): { readonly change: ChangeSet; readonly body: MonitorDocument } => {
  const owner = unitOwner(orgUnit)
  const state = newState(read.rule, nowMs)
  const dueMs = nowMs + (read.rule.noDataMs ?? read.rule.windowMs)
  const body: MonitorDocument = { ...read, orgUnit, owner, createdAtMs: nowMs, state, dueMs }
  const { field, name, reference, segment, value } = read
  const definition = { field, name, org_unit: orgUnit, reference, segment, value } as unknown as JsonObject
  return {
    body,
    change: {
      puts: [putMonitor({ id, version: 0, body })],
      counts: [{ name: monitorsOf(owner), add: 1, ...(limit === null ? {} : { atMost: limit }) }],
      records: [
        {
          kind: "monitor.changed",
          agentId: null,
          body: monitorBody(id, body, writer),
          parts: [{ name: "definition", bytes: canonicalBytes(definition as never) }]
        }
      ]
    }
  }
}
