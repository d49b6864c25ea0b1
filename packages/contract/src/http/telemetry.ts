/** The endpoint of telemetry. Spec: document 1 section 4, GET /bound/telemetry/usage. */
import { named } from "../foundation/plain.ts"
import { type TelemetryInfo, TelemetryOut, TelemetryQuery } from "../telemetry.ts"
import { access } from "./access.ts"
import { endpoint, json, queryOf } from "./endpoint.ts"

/** Endpoint of usage telemetry. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
export const telemetry = {
  usage: endpoint({
    id: "bound.usage",
    method: "GET",
    path: "/api/v1/bound/telemetry/usage",
    summary: "Returns usage and cost of agents in a window, review outcomes, and durations of incidents.",
    access: access.read,
    query: queryOf(TelemetryQuery),
    success: json(200, named<TelemetryInfo>()(TelemetryOut)),
    refusals: ["TelemetryBehind"]
  })
} as const
