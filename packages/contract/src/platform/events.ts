/**
 * The events of the platform API: what each tells, and the shape of its `data`, which has exactly these members. They
 * belong to an org unit, and reach its webhooks alone. Spec: document 2 section 6.
 */
import { Schema } from "effect"
import { instant, integer, oneOf, text } from "../foundation/fields.ts"
import { DEFAULT_SORT, listOf, listQuery } from "./list.ts"

const name = text(1, 200)
const sentence = text(0, 2_000)
/** `inr` is null where the server has no rate. */
const cost = Schema.Struct({ usd: Schema.Finite, inr: Schema.NullOr(Schema.Finite) })
const failure = { code: name, message: sentence }
const analysis = { id: name, model_id: name }
const alert = {
  id: name,
  monitor_id: name,
  model_id: name,
  metric: name,
  value: Schema.Finite,
  threshold: Schema.Finite,
  severity: name,
  message: sentence
}
// Neither names nor outputs: what people and agents wrote can be erased, and an event cannot be called back.
const workflow = { id: name, workflow_id: name, status: name }
// No position: it is personal data of the driver, and an event cannot be called back.
const fence = { geofence_id: name, vehicle_id: name, at: instant }
const ended = { duration_ms: integer(), completed_at: instant }

const entry = <const F extends Schema.Struct.Fields>(about: string, members: F) => ({
  about,
  data: Schema.Struct(members)
})

/** The events, by type. Those of which the specification shows no `data` have what a receiver needs to act. */
export const platformEvents = {
  "analysis.completed": entry("A fairness analysis finished.", {
    ...analysis,
    overall_score: Schema.Finite,
    bias_detected: Schema.Boolean,
    // Numbers, as the specification says: a metric that does not exist is left out.
    metrics_summary: Schema.Struct({
      demographic_parity: Schema.optionalKey(Schema.Finite),
      equalized_odds: Schema.optionalKey(Schema.Finite),
      calibration: Schema.optionalKey(Schema.Finite)
    }),
    report_url: text(1, 2_048)
  }),
  "analysis.failed": entry("A fairness analysis failed.", { ...analysis, error: Schema.Struct(failure) }),
  "alert.triggered": entry("A monitored value passed its threshold.", alert),
  "alert.resolved": entry("A monitored value returned to normal.", {
    ...alert,
    resolved_at: instant,
    duration_ms: integer()
  }),
  "extraction.completed": entry("Fields were extracted from a document. Identifying numbers are masked.", {
    id: name,
    document_type: name,
    confidence: Schema.Finite,
    fields: Schema.Record(Schema.String, Schema.String)
  }),
  "extraction.failed": entry("An extraction failed.", { id: name, document_type: name, error: Schema.Struct(failure) }),
  "fleet.geofence_entered": entry("A vehicle entered a fence.", fence),
  "fleet.geofence_left": entry("A vehicle left a fence.", fence),
  "fleet.off_plan": entry("A vehicle left the plan that was dispatched for it.", {
    plan_id: name,
    vehicle_id: name,
    at: instant
  }),
  "routes.completed": entry("A plan of routes is ready.", {
    id: name,
    vehicles: integer(),
    stops: integer(),
    unassigned: integer(),
    metres: integer(),
    driving_seconds: integer(),
    distance_source: name
  }),
  "routes.failed": entry("A plan of routes ended without routes.", { id: name, error: Schema.Struct(failure) }),
  "workflow.completed": entry("A workflow finished.", {
    ...workflow,
    cost,
    ...ended
  }),
  "workflow.failed": entry("A workflow failed.", {
    ...workflow,
    error: Schema.Struct({ code: name, step_id: Schema.NullOr(name) }),
    ...ended
  })
}

/** A type of event of the platform API. */
export type PlatformEventType = keyof typeof platformEvents

/** The `data` of an event. */
export type PlatformEventData<T extends PlatformEventType> = (typeof platformEvents)[T]["data"]["Type"]

/** The types, which no webhook of the governance can subscribe to. Spec: document 2 section 6. */
export const platformEventTypes: ReadonlyArray<PlatformEventType> = Object.keys(
  platformEvents
) as ReadonlyArray<PlatformEventType>

/** Query of GET /v1/events: newest first alone, as the outbox is read. */
export const PlatformEventsQuery = listQuery({ type: Schema.optionalKey(oneOf(platformEventTypes)) }, [DEFAULT_SORT])

/** An event as it is listed, and as it is sent. Spec: document 2 section 2, "Webhook event envelope". */
export const PlatformEvent = Schema.Struct({
  id: Schema.String,
  type: oneOf(platformEventTypes),
  created_at: instant,
  data: Schema.Record(Schema.String, Schema.Unknown)
})

/** An event as it is listed, and as it is sent. */
export type PlatformEvent = typeof PlatformEvent.Type

/** Answer of GET /v1/events: newest first. */
export const PlatformEventsPage = listOf(PlatformEvent)
