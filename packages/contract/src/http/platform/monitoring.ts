/** The endpoints of monitors, inferences and alerts. Spec: document 2 sections 4 and 8; api.md "Document 2". */
import { Schema } from "effect"
import { unitQuery } from "../../platform/list.ts"
import {
  Alert,
  AlertsPage,
  AlertsQuery,
  InferencesIn,
  InferencesTaken,
  Monitor,
  MonitorCreate,
  MonitorsPage,
  MonitorsQuery
} from "../../platform/monitoring.ts"
import { AlertNotFound, MonitorNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "../endpoint.ts"

const write = platformAccess("monitoring:write", access.operate.roles)
const read = platformAccess("monitoring:read")
const platform = { module: "monitoring" }
const query = queryOf(Schema.Struct(unitQuery))
const ofMonitor = { monitor_id: idParam("monitor", () => new MonitorNotFound({})) } as const
/** Bytes of a body: a thousand inferences with all their features. */
const INFERENCES_BYTES = 16 * 1_024 * 1_024

/** Endpoints of monitors, inferences and alerts. Spec: document 2 sections 4 and 8. */
export const monitoring = {
  create: endpoint({
    id: "monitoring.create_monitor",
    method: "POST",
    path: "/v1/monitoring/monitors",
    summary: "Creates a monitor of a model: a metric, a threshold, and how long a breach must last.",
    access: write,
    platform: { ...platform, operation: "monitoring.create_monitor" },
    query,
    body: jsonBody(MonitorCreate),
    success: json(201, Monitor),
    refusals: ["PlanLimitReached"]
  }),
  list: endpoint({
    id: "monitoring.list_monitors",
    method: "GET",
    path: "/v1/monitoring/monitors",
    summary: "Lists monitors, the newest first, without deleted ones.",
    access: read,
    platform,
    query: queryOf(MonitorsQuery),
    success: json(200, MonitorsPage)
  }),
  get: endpoint({
    id: "monitoring.get_monitor",
    method: "GET",
    path: "/v1/monitoring/monitors/{monitor_id}",
    summary: "Returns one monitor with its state.",
    access: read,
    platform,
    params: ofMonitor,
    query,
    success: json(200, Monitor),
    refusals: ["MonitorNotFound"]
  }),
  delete: endpoint({
    id: "monitoring.delete_monitor",
    method: "DELETE",
    path: "/v1/monitoring/monitors/{monitor_id}",
    summary: "Deletes a monitor. An open alert of it is resolved.",
    access: write,
    platform,
    params: ofMonitor,
    query,
    success: json(200, Monitor),
    refusals: ["MonitorNotFound"]
  }),
  log: endpoint({
    id: "monitoring.log_inference",
    method: "POST",
    path: "/v1/monitoring/inferences",
    summary: "Takes 1 to 1,000 inferences, all or none. Each inference counts.",
    access: write,
    platform: {
      ...platform,
      operation: "monitoring.log_inference",
      cost: ({ inferences }: { readonly inferences: ReadonlyArray<unknown> }) => inferences.length
    },
    query,
    body: jsonBody(InferencesIn, { limitBytes: INFERENCES_BYTES }),
    success: json(201, InferencesTaken)
  }),
  alerts: endpoint({
    id: "monitoring.get_alerts",
    method: "GET",
    path: "/v1/monitoring/alerts",
    summary: "Lists alerts, the newest first.",
    access: read,
    platform: { ...platform, operation: "monitoring.get_alerts" },
    query: queryOf(AlertsQuery),
    success: json(200, AlertsPage)
  }),
  alert: endpoint({
    id: "monitoring.get_alert",
    method: "GET",
    path: "/v1/monitoring/alerts/{alert_id}",
    summary: "Returns one alert with its counts.",
    access: read,
    platform,
    params: { alert_id: idParam("alert", () => new AlertNotFound({})) },
    query,
    success: json(200, Alert),
    refusals: ["AlertNotFound"]
  })
} as const
