/**
 * Plans a check of a monitor: what came is counted, its state moves, and an alert begins or ends in the same commit.
 * Pure.
 */
import type { Inference } from "@flyball/contract"
import { platformEvent } from "@flyball/core"
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import {
  dueOf,
  MONITOR_WRITER,
  type WindowCounts,
  stepMonitor,
  type Verdict,
  verdictOf,
  wagerOf,
  WINDOW_SLOTS,
  windowFrom
} from "@flyball/rules"
import {
  type AlertDocument,
  alertData,
  type MonitorDocument,
  putAlert,
  putMonitor,
  type Stored,
  type Wager
} from "./document.ts"
import { countInto, type OpenTally, readTallies, type Tally } from "./tally.ts"

/** An inference, and when it was made. */
export interface Arrived {
  readonly inference: Inference
  readonly atMs: number
}

/** The input of a check. `open`: the monitor's open alert. `newAlertId`: the id of one that may begin. */
export interface CheckInput {
  readonly stored: Stored<MonitorDocument>
  readonly open: Stored<AlertDocument> | null
  readonly newAlertId: string
  readonly nowMs: number
}

/** A monitor after a check, and what the commit has of it. */
export interface Checked {
  readonly body: MonitorDocument
  readonly change: Required<Pick<ChangeSet, "puts" | "records" | "events">>
}

/** Checks a monitor after these inferences of its model came; none: as time alone moves it. */
export const planCheck = (
  { newAlertId, nowMs, open, stored }: CheckInput,
  arrived: ReadonlyArray<Arrived>
): Checked => {
  const { body: before, id } = stored
  const { rule } = before
  const slotMs = rule.windowMs / WINDOW_SLOTS
  const current = Math.floor(nowMs / slotMs)
  const { came, slots, wager } = counted(before, arrived, nowMs, current, slotMs)
  const seen = readTallies(rule.metric, before, Object.values(slots))
  const window: Read = { ...seen, fromMs: windowFrom(rule, nowMs) }
  const won = wager.samples > 0 && hasWon(before, wager)
  const known = came ? { ...before.state, lastDataMs: nowMs, hasData: true } : before.state
  const verdict = won ? "breach" : windowVerdict(before, window, nowMs)
  const { act, sinceMs, state } = stepMonitor(rule, known, verdict, nowMs, newAlertId)
  const next: MonitorDocument = {
    ...before,
    state,
    slots,
    wager: act === null ? wager : { ...wager, period: -1, samples: 0, count: 0 },
    seen: { samples: seen.reading.samples, value: seen.value }
  }
  const dueMs = act !== null ? nowMs : dueOf(rule, state, nextSlotMs(next, (current + 1) * slotMs, nowMs))
  const body: MonitorDocument = { ...next, dueMs }
  const put = putMonitor({ ...stored, body })
  if (act === null) return { body, change: { puts: [put], records: [], events: [] } }
  if (act.type === "resolve")
    return { body, change: together(put, resolvedAlert(open!, act.reason, window, nowMs, { sinceMs })) }
  const read: Read =
    act.cause === "no_data"
      ? { reading: nothing, value: (nowMs - sinceMs) / 1_000, fromMs: sinceMs }
      : won
        ? {
            reading: { samples: wager.samples, counts: [wager.count] },
            value: wager.count / wager.samples,
            fromMs: wager.fromMs
          }
        : window
  const alert: AlertDocument = {
    owner: before.owner,
    orgUnit: before.orgUnit,
    monitorId: id,
    modelId: before.modelId,
    rule,
    cause: act.cause,
    severity: before.severity,
    value: read.value!,
    ...read.reading,
    fromMs: read.fromMs,
    triggeredAtMs: nowMs,
    wagers: won ? wager.number : null,
    resolvedAtMs: null,
    reason: null
  }
  const record: RecordDraft = {
    kind: "alert.triggered",
    agentId: null,
    body: {
      alert_id: newAlertId,
      before: act.before,
      cause: act.cause,
      ...readMembers(read, id, nowMs, sinceMs),
      value: String(alert.value),
      ...(won ? { wagers: wager.number } : {}),
      writer: MONITOR_WRITER
    },
    parts: []
  }
  return {
    body,
    change: together(put, {
      puts: [putAlert({ id: newAlertId, version: 0, body: alert })],
      records: [record],
      events: [platformEvent("alert.triggered", before.orgUnit, alertData(newAlertId, alert))]
    })
  }
}

/** A reading with its value, and where its window begins. */
interface Read {
  readonly reading: WindowCounts
  readonly value: number | null
  readonly fromMs: number
}
const nothing: WindowCounts = { samples: 0, counts: [] }

const together = (put: ReturnType<typeof putMonitor>, change: Checked["change"]): Checked["change"] => ({
  ...change,
  puts: [put, ...change.puts]
})

const readMembers = ({ fromMs, reading }: Read, monitorId: string, nowMs: number, sinceMs: number) => ({
  counts: [...reading.counts],
  from_ms: fromMs,
  monitor_id: monitorId,
  samples: reading.samples,
  since_ms: sinceMs,
  to_ms: nowMs
})

/** Ends an alert: its document, its record and its event. */
const resolvedAlert = (
  open: Stored<AlertDocument>,
  reason: NonNullable<AlertDocument["reason"]>,
  window: Read,
  nowMs: number,
  { sinceMs }: { readonly sinceMs: number }
): Checked["change"] => {
  const read: Read =
    reason === "no_data" ? { reading: nothing, value: (nowMs - sinceMs) / 1_000, fromMs: sinceMs } : window
  const body: AlertDocument = { ...open.body, resolvedAtMs: nowMs, reason }
  const data = { ...alertData(open.id, body), ...(read.value === null ? {} : { value: read.value }) }
  return {
    puts: [putAlert({ ...open, body })],
    records: [
      {
        kind: "alert.resolved",
        agentId: null,
        body: {
          alert_id: open.id,
          ...readMembers(read, body.monitorId, nowMs, sinceMs),
          reason,
          ...(read.value === null ? {} : { value: String(read.value) }),
          writer: MONITOR_WRITER
        },
        parts: []
      }
    ],
    events: [
      platformEvent("alert.resolved", body.orgUnit, {
        ...data,
        resolved_at: formatInstant(nowMs),
        duration_ms: Math.max(0, nowMs - body.triggeredAtMs)
      })
    ]
  }
}

/** Ends the open alert of a monitor that is deleted. */
export const planEndAlert = ({ body }: Stored<MonitorDocument>, open: Stored<AlertDocument>, nowMs: number) => {
  const { rule, slots } = body
  const current = Math.floor(nowMs / (rule.windowMs / WINDOW_SLOTS))
  const tallies = inWindow(slots, current).map(([, tally]) => tally)
  const read = { ...readTallies(rule.metric, body, tallies), fromMs: windowFrom(rule, nowMs) }
  return resolvedAlert(open, "monitor_deleted", read, nowMs, { sinceMs: nowMs })
}

const inWindow = (slots: MonitorDocument["slots"], current: number): ReadonlyArray<readonly [string, Tally]> =>
  Object.entries(slots).filter(([slot]) => Number(slot) > current - WINDOW_SLOTS)

/** Counts what came, in its slots and in the wager, and drops slots that left the window. */
const counted = (
  body: MonitorDocument,
  arrived: ReadonlyArray<Arrived>,
  nowMs: number,
  current: number,
  slotMs: number
): { readonly came: boolean; readonly slots: MonitorDocument["slots"]; readonly wager: Wager } => {
  const { rule, segment } = body
  const kept = inWindow(body.slots, current)
  const slots: { [slot: string]: OpenTally } = Object.fromEntries(kept.map(([slot, tally]) => [slot, { ...tally }]))
  let [came, samples, count] = [false, 0, 0]
  for (const { atMs, inference } of arrived) {
    if (segment !== null && inference.segment !== segment) continue
    came = true
    const slot = Math.floor(Math.min(atMs, nowMs) / slotMs)
    if (slot <= current - WINDOW_SLOTS) continue
    const isCounted = countInto((slots[slot] ??= {}), rule.metric, body, inference)
    if (isCounted === null) continue
    samples++
    if (isCounted) count++
  }
  const { alpha, windowMs } = rule
  if (alpha === null || samples === 0 || body.state.alert !== null) return { came, slots, wager: body.wager }
  const period = Math.floor(nowMs / windowMs)
  const { wager } = body
  return wager.period === period
    ? { came, slots, wager: { ...wager, samples: wager.samples + samples, count: wager.count + count } }
    : { came, slots, wager: { number: wager.number + 1, period, fromMs: nowMs, samples, count } }
}

const hasWon = ({ rule, state }: MonitorDocument, { count, number, samples }: Wager): boolean => {
  if (rule.alpha === null || state.alert !== null) return false
  const { logE, needed } = wagerOf(rule, number, { samples, counts: [count] })
  return logE >= needed
}

/** In mode `anytime` the window ends alerts, and begins none. A volume says something once its window is full. */
const windowVerdict = ({ createdAtMs, rule }: MonitorDocument, { reading, value }: Read, nowMs: number): Verdict => {
  if (rule.metric === "volume" && nowMs < createdAtMs + rule.windowMs) return "few"
  const verdict = verdictOf(rule, reading.samples, value)
  return rule.alpha !== null && verdict === "breach" ? "between" : verdict
}

/** When the window changes although nothing comes. */
const nextSlotMs = ({ createdAtMs, rule, slots }: MonitorDocument, nextMs: number, nowMs: number): number | null => {
  if (rule.metric === "volume" && nowMs < createdAtMs + rule.windowMs) return createdAtMs + rule.windowMs
  return Object.keys(slots).length === 0 ? null : nextMs
}
