/**
 * Judges alerts of monitors: each follows from its counts, from the thresholds of its monitor and from how long they
 * were passed, and a monitor has one at a time, from trigger to end. Spec: api.md "Document 2"; decision 0078.
 */
import type { AlertResolvedBody, AlertTriggeredBody, MonitorChangedBody } from "@flyball/evidence"
import { type KnownMonitor, ruleOf } from "../../monitors/known-monitors.ts"
import { shareMetrics, valueOf, type Verdict, verdictOf, wagerOf, windowFrom } from "../../monitors/reading.ts"
import { partMembers } from "../../records/part-json.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

const wrong = (reason: string): Problem => problem("alert_mismatch", reason)

/** Members of a monitor that never change. */
const kept: ReadonlyArray<keyof MonitorChangedBody> = [
  "alpha",
  "clear_ms",
  "clear_threshold",
  "comparator",
  "metric",
  "min_samples",
  "mode",
  "model_id",
  "no_data_ms",
  "on_no_data",
  "pending_ms",
  "threshold",
  "window_ms"
]

/** The monitors of a chain. It keeps a line for each. */
export class AlertJudge {
  readonly #monitors = new Map<string, KnownMonitor>()
  readonly #fromGenesis: boolean

  constructor(fromGenesis: boolean) {
    this.#fromGenesis = fromGenesis
  }

  /** Judges a record that matches the catalogue, and keeps what it says. */
  take(record: ReplayRecord): Problem | null {
    const id = String(record.body["monitor_id"])
    const known = this.#monitors.get(id)
    if (record.kind === "monitor.changed") return this.#changed(record, known)
    if (known === undefined) return this.#fromGenesis ? problem("reference_mismatch", `No record is of ${id}.`) : null
    if (known.status !== "active") return wrong(`${id} is deleted.`)
    return record.kind === "alert.triggered"
      ? triggered(known, record.body as unknown as AlertTriggeredBody)
      : resolved(known, record.body as unknown as AlertResolvedBody)
  }

  #changed({ body, parts }: ReplayRecord, known: KnownMonitor | undefined): Problem | null {
    const changed = body as unknown as MonitorChangedBody
    if (changed.status === "deleted") {
      if (known === undefined)
        return this.#fromGenesis ? problem("reference_mismatch", `No record is of ${changed.monitor_id}.`) : null
      const [{ alert, status }, other] = [known, kept.find((name) => known.created[name] !== changed[name])]
      known.status = "deleted"
      if (status === "deleted") return problem("ended_twice", `${changed.monitor_id} is deleted.`)
      if (other !== undefined) return wrong(`${other} of the monitor was another.`)
      return alert === null ? null : wrong(`${alert.id} is open.`)
    }
    const part = partMembers(parts.get("definition"))
    const members = part.state === "known" ? part.members : null
    if (known !== undefined)
      return problem("reference_mismatch", `${changed.monitor_id} is given by another record as well.`)
    const rule = ruleOf(changed)
    const reference = members === null ? null : countsOf(members)
    this.#monitors.set(changed.monitor_id, {
      created: changed,
      rule,
      reference,
      alert: null,
      movedMs: 0,
      wagers: 0,
      status: "active"
    })
    const numbers = [rule.threshold, rule.clearThreshold, rule.alpha ?? 0.5]
    if (!numbers.every(Number.isFinite)) return wrong("A threshold is no number.")
    if ((changed.mode === "anytime") !== (rule.alpha !== null))
      return wrong("The mode and alpha contradict each other.")
    if (rule.alpha !== null && !isWager(changed)) return wrong("This monitor has no mode anytime.")
    if ((changed.metric === "volume") !== (rule.noDataMs === null))
      return wrong("The metric and no_data_ms contradict.")
    const side = rule.comparator === "above" ? 1 : -1
    if (side * rule.clearThreshold > side * rule.threshold) return wrong("It clears beyond its threshold.")
    if (part.state !== "known") return problem("withheld", "The definition of the monitor is not shown.")
    return (changed.metric === "drift_psi") === (reference !== null)
      ? null
      : wrong("The part holds another reference than the metric needs.")
  }
}

const isWager = ({ alpha, metric, pending_ms: pendingMs, threshold }: MonitorChangedBody): boolean =>
  shareMetrics.includes(metric) &&
  pendingMs === 0 &&
  Number(threshold) > 0 &&
  Number(threshold) < 1 &&
  Number(alpha) > 0 &&
  Number(alpha) < 1

const countsOf = ({ reference }: JsonMap): ReadonlyArray<number> | null => {
  const counts = typeof reference === "object" && reference !== null ? (reference as JsonMap)["counts"] : null
  return Array.isArray(counts) && counts.every((one) => typeof one === "number") ? counts : null
}

const triggered = (known: KnownMonitor, body: AlertTriggeredBody): Problem | null => {
  const { alert, movedMs, rule, wagers } = known
  known.alert = { id: body.alert_id, cause: body.cause, fromMs: body.to_ms }
  known.movedMs = body.to_ms
  known.wagers = Math.max(wagers, body.wagers ?? 0)
  if (alert !== null) return wrong(`${alert.id} of the same monitor is open.`)
  if (body.cause === "no_data")
    return rule.onNoData === "alert" && body.wagers === undefined
      ? silence(rule.noDataMs, body)
      : wrong("Silence is no alert of this monitor.")
  const lasts = body.to_ms - body.since_ms
  if (lasts < rule.pendingMs) return wrong(`A breach lasts ${rule.pendingMs} ms before it is an alert.`)
  if ((body.before === "pending") !== rule.pendingMs > 0 || (rule.pendingMs === 0 && lasts > 0))
    return wrong(`It cannot be ${body.before} for ${lasts} ms.`)
  if (body.since_ms < movedMs) return wrong("The breach began before the alert before it ended.")
  if ((body.wagers !== undefined) !== (rule.alpha !== null)) return wrong("The mode of the monitor is another.")
  if (body.wagers === undefined) return measured(known, body, "breach")
  if (body.wagers <= wagers) return wrong(`Wager ${wagers} was won before.`)
  const period = (ms: number) => Math.floor(ms / rule.windowMs)
  if (body.from_ms > body.to_ms || period(body.from_ms) !== period(body.to_ms))
    return wrong("A wager lasts no longer than the window.")
  const { logE, needed } = wagerOf(rule, body.wagers, body)
  return stated(known, body) ?? (logE + NEAR >= needed ? null : wrong(`Its evidence is ${logE}, and needs ${needed}.`))
}

const resolved = (known: KnownMonitor, body: AlertResolvedBody): Problem | null => {
  const { alert, rule } = known
  known.alert = null
  known.movedMs = body.to_ms
  if (body.reason === "monitor_deleted") known.status = "closing"
  if (alert === null) return wrong("No alert of the monitor is open.")
  if (alert.id !== body.alert_id) return wrong(`The open alert of the monitor is ${alert.id}.`)
  if (body.to_ms < alert.fromMs) return wrong("It ends before it begins.")
  switch (body.reason) {
    case "no_data":
      if (alert.cause !== "threshold" || rule.onNoData !== "resolve") return wrong("Silence does not end this alert.")
      return silence(rule.noDataMs, body)
    case "recovered":
      if (alert.cause !== "threshold") return wrong("An alert of silence ends with data.")
      if (body.since_ms < alert.fromMs || body.to_ms - body.since_ms < rule.clearMs)
        return wrong(`A recovery lasts ${rule.clearMs} ms before it ends an alert.`)
      return measured(known, body, "clear")
    default:
      if (body.reason === "data" && alert.cause !== "no_data") return wrong("That data came ends no alert of a value.")
      return body.since_ms === body.to_ms ? measured(known, body, null) : wrong("It ends at once.")
  }
}

type Measured = Pick<AlertTriggeredBody, "counts" | "from_ms" | "samples" | "to_ms"> & { readonly value?: string }

/** Nothing came for long enough. */
const silence = (noDataMs: number | null, body: Measured & { readonly since_ms: number }): Problem | null => {
  const lasts = body.to_ms - body.from_ms
  if (noDataMs === null || lasts < noDataMs || body.since_ms !== body.from_ms)
    return wrong(`Silence lasts ${noDataMs ?? "any"} ms before it counts.`)
  return body.samples === 0 && body.counts.length === 0 && isNear(Number(body.value), lasts / 1_000)
    ? null
    : wrong("Of silence, the value is its seconds.")
}

/** The value of the window is that of its counts, and says what the alert needs; null: it needs nothing. */
const measured = (known: KnownMonitor, body: Measured, needed: Verdict | null): Problem | null => {
  const { rule } = known
  if (body.from_ms !== windowFrom(rule, body.to_ms)) return wrong("Its window begins at another time.")
  const found = stated(known, body)
  if (found !== null || needed === null) return found
  const verdict = verdictOf(rule, body.samples, Number(body.value))
  return verdict === needed ? null : wrong(`Its value is a ${verdict}, not a ${needed}.`)
}

const stated = ({ reference, rule }: KnownMonitor, { counts, samples, value }: Measured): Problem | null => {
  if (rule.metric === "drift_psi" && reference === null) return problem("withheld", "The reference is not shown.")
  const computed = valueOf(rule.metric, { counts, samples }, reference)
  const isRight =
    computed === null
      ? value === undefined && samples === 0 && counts.every((count) => count === 0)
      : value !== undefined && isNear(Number(value), computed)
  return isRight ? null : wrong(`Its counts have the value ${computed}.`)
}

/** Logarithms differ in their last digits between engines. */
const NEAR = 1e-9
const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= NEAR * Math.max(1, Math.abs(other))
