/** Rows of the catalogue: monitors of models, and their alerts. */
import { alertCauses, alertReasons, monitorComparators, monitorMetrics, monitorModes, noDataActions } from "../words.ts"
import type { BodyOf } from "./body-type.ts"
import { choice, count, foreignName, id, type KindRow, may, must, name, part, writer } from "./row.ts"

/** A number, as JavaScript writes it. */
const decimal = name(32)
const monitorId = must("monitor_id", id("mon_"))
const counts = must("counts", {
  type: "list",
  of: { type: "integer", min: -(2 ** 52), max: 2 ** 52 },
  min: 0,
  max: 50
})

const changed = [
  may("alpha", decimal),
  must("clear_ms", count),
  must("clear_threshold", decimal),
  must("comparator", choice(...monitorComparators)),
  must("metric", choice(...monitorMetrics)),
  must("min_samples", count),
  must("mode", choice(...monitorModes)),
  must("model_id", foreignName(200)),
  monitorId,
  may("no_data_ms", count),
  must("on_no_data", choice(...noDataActions)),
  must("pending_ms", count),
  must("status", choice("active", "deleted")),
  must("threshold", decimal),
  must("window_ms", count),
  writer
] as const

const samples = must("samples", count)
const sinceMs = must("since_ms", count)
const fromMs = must("from_ms", count)
const toMs = must("to_ms", count)
const triggered = [
  must("alert_id", id("alt_")),
  must("before", choice("ok", "pending", "no_data")),
  must("cause", choice(...alertCauses)),
  counts,
  fromMs,
  monitorId,
  samples,
  sinceMs,
  toMs,
  must("value", decimal),
  may("wagers", count),
  writer
] as const
const resolved = [
  must("alert_id", id("alt_")),
  counts,
  fromMs,
  monitorId,
  must("reason", choice(...alertReasons)),
  samples,
  sinceMs,
  toMs,
  may("value", decimal),
  writer
] as const

/** The body of `monitor.changed`. */
export type MonitorChangedBody = BodyOf<typeof changed>
/** The body of `alert.triggered`. */
export type AlertTriggeredBody = BodyOf<typeof triggered>
/** The body of `alert.resolved`. */
export type AlertResolvedBody = BodyOf<typeof resolved>

/** The rows, in the order of the specification's table. */
export const monitoringKinds: ReadonlyArray<KindRow> = [
  {
    kind: "monitor.changed",
    about:
      "A monitor was created, or deleted: then it says again what it was. Thresholds are decimals. Times of waiting " +
      "are in milliseconds.",
    body: changed,
    parts: [
      part(
        "definition",
        65_536,
        "`{field, name, org_unit, reference: {counts, edges, values}, segment, value}`; null where it has none"
      )
    ]
  },
  {
    kind: "alert.triggered",
    about:
      "An alert began, of the state `before` that its monitor was in since `since_ms`. `value` follows from " +
      "`samples` and `counts` of the window from `from_ms` to `to_ms`, as section 12 says. Of the cause " +
      "`no_data` it is the seconds since `from_ms`. In mode `anytime`, `wagers` is the number of the wager that won.",
    body: triggered,
    parts: []
  },
  {
    kind: "alert.resolved",
    about:
      "An alert ended. Recovered: its value was beyond the threshold of clearing since `since_ms`. Deleted: the next " +
      "record of the monitor says so.",
    body: resolved,
    parts: []
  }
]
