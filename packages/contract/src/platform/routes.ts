/** Routes of a fleet as they travel: what is to be planned, and plans. Spec: document 2 sections 4 and 8. */
import { distanceSources, routePlanFailures, unassignedReasons } from "@flyball/evidence/words"
import { Schema } from "effect"
import { check, identifier, instant, integer, integerParam, list, oneOf, optional, text } from "../foundation/fields.ts"
import { listOf, listQuery, unitQuery } from "./list.ts"
import { requestBounds } from "./plans.ts"

export { distanceSources, routePlanFailures, unassignedReasons }

/** Statuses of a plan of routes. The last three are final. */
export const routePlanStatuses = ["queued", "processing", "completed", "failed", "cancelled"] as const
export type RoutePlanStatus = (typeof routePlanStatuses)[number]

/** Bounds of route planning. Units: as their names say. */
export const routeBounds = {
  bodyBytes: 16 * 1_048_576,
  jobs: 2_000,
  dimensions: 4,
  /** Largest load, and largest demand: their sums stay whole. */
  load: 1_000_000,
  windows: 10,
  skills: 32,
  /** Between the first time of a request and the last one. */
  horizonS: 14 * 86_400,
  /** Longest edge of a matrix. */
  metres: 10_000_000,
  costs: { fixed: 1_000_000, perKm: 10_000, perHour: 10_000 },
  speedKmh: { min: 1, max: 130, default: 40 },
  detour: { min: 1, max: 3, default: 1.3 },
  maxSeconds: { min: 1, max: 60, default: 5 },
  waitS: 10
} as const

const { costs, detour, dimensions, horizonS, load, maxSeconds, speedKmh } = routeBounds

const between = (min: number, max: number) =>
  Schema.Number.check(
    check<number>(
      (value) => value >= min && value <= max,
      { type: "value_error", msg: `Input should be a number from ${min} to ${max}` },
      { minimum: min, maximum: max }
    )
  )

/** A place on the map. */
const GeoPoint = Schema.Struct({ latitude: between(-90, 90), longitude: between(-180, 180) })
/** A point, or the row of a place in the matrix. */
const Location = Schema.Union([GeoPoint, integer(0, 2 * requestBounds.vehicles + routeBounds.jobs)])
const Span = Schema.Struct({ start: instant, end: instant })
const loads = list(integer(0, load), 0, dimensions)
const skills = list(identifier(64), 0, routeBounds.skills)
const planId = text(1, 200)

/** A vehicle: where it starts and ends (left out: anywhere), what it holds, when and how far it may drive. */
export const RouteVehicle = Schema.Struct({
  id: planId,
  start: optional(Location),
  end: optional(Location),
  capacity: optional(loads),
  shift: optional(Span),
  max_metres: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  max_duration_seconds: optional(integer(0, horizonS)),
  skills: optional(skills),
  costs: optional(
    Schema.Struct({
      fixed: optional(integer(0, costs.fixed)),
      per_km: optional(integer(0, costs.perKm)),
      per_hour: optional(integer(0, costs.perHour))
    })
  )
})

/** A stop to make. `vehicle`: the one that must make it. */
export const RouteJob = Schema.Struct({
  id: planId,
  location: Location,
  demand: optional(loads),
  time_windows: optional(list(Span, 0, routeBounds.windows)),
  service_seconds: optional(integer(0, 86_400)),
  skills: optional(skills),
  priority: optional(integer(0, 100)),
  vehicle: optional(planId)
})

/** Rows are read by the product, in slices: a number that is wrong is refused with its place. */
const rows = Schema.Unknown.check(
  check<unknown>(
    Array.isArray,
    { type: "value_error", msg: "Input should be a valid list" },
    { type: "array", items: { type: "array", items: { type: "integer" } } }
  )
)

/** Body of POST /v1/fleet/routes/optimize. Spec: document 2 section 8, "1,000 vehicles per request". */
export const RoutesOptimize = Schema.Struct({
  vehicles: list(RouteVehicle, 1, requestBounds.vehicles),
  jobs: list(RouteJob, 1, routeBounds.jobs),
  /** From each place (a row) to each: whole metres and seconds. Without it, distances are great circles. */
  matrix: optional(Schema.Struct({ metres: rows, seconds: rows })),
  speed_kmh: optional(between(speedKmh.min, speedKmh.max)),
  detour: optional(between(detour.min, detour.max)),
  max_seconds: optional(integer(maxSeconds.min, maxSeconds.max)),
  seed: optional(identifier(64))
})
export type RoutesOptimize = typeof RoutesOptimize.Type

/** Query of POST /v1/fleet/routes/optimize. `wait`: how long the answer may wait for the plan. Unit: seconds. */
export const RoutesOptimizeQuery = Schema.Struct({
  ...unitQuery,
  wait: Schema.optionalKey(integerParam(0, routeBounds.waitS))
})

/** A stop of a route. `load`: what was loaded up to it, it included. */
export const PlannedStop = Schema.Struct({
  job: Schema.String,
  arrival: instant,
  begin: instant,
  wait_seconds: Schema.Int,
  load: Schema.Array(Schema.Int)
})

/** The route of one vehicle. */
export const PlannedRoute = Schema.Struct({
  vehicle: Schema.String,
  start: instant,
  end: instant,
  metres: Schema.Int,
  driving_seconds: Schema.Int,
  stops: Schema.Array(PlannedStop)
})

/**
 * A plan of routes. `routes` and what follows are null until there are any, and left out in lists. Spec: document 2
 * section 4.
 */
export const RoutePlanOut = Schema.Struct({
  id: Schema.String,
  status: oneOf(routePlanStatuses),
  created_at: instant,
  completed_at: Schema.NullOr(instant),
  vehicles: Schema.Int,
  jobs: Schema.Int,
  distance_source: oneOf(distanceSources),
  problem_digest: Schema.String,
  plan_digest: Schema.NullOr(Schema.String),
  /** Totals of the routes, in whole numbers. Costs are in the units of the request. */
  totals: Schema.NullOr(
    Schema.Struct({
      vehicles: Schema.Int,
      stops: Schema.Int,
      unassigned: Schema.Int,
      metres: Schema.Int,
      driving_seconds: Schema.Int,
      cost: Schema.Number
    })
  ),
  dispatched_at: Schema.NullOr(instant),
  error: Schema.optionalKey(Schema.Struct({ code: oneOf(routePlanFailures), message: Schema.String })),
  routes: Schema.optionalKey(Schema.NullOr(Schema.Array(PlannedRoute))),
  unassigned: Schema.optionalKey(
    Schema.NullOr(Schema.Array(Schema.Struct({ job: Schema.String, reason: oneOf(unassignedReasons) })))
  ),
  /** With the problem, these give the same plan again. */
  search: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        seed: Schema.String,
        iterations: Schema.Int,
        schedule: Schema.Array(Schema.Struct({ at: Schema.Int, until: Schema.Int }))
      })
    )
  )
})
export type RoutePlanOut = typeof RoutePlanOut.Type

/** Query of GET /v1/fleet/plans. */
export const RoutePlansQuery = listQuery({ status: Schema.optionalKey(oneOf(routePlanStatuses)) })
/** Answer of GET /v1/fleet/plans. */
export const RoutePlansPage = listOf(RoutePlanOut)

/** Answer of POST /v1/fleet/plans/{id}/dispatch. */
export const RouteDispatch = Schema.Struct({
  plan_id: Schema.String,
  agent_id: Schema.String,
  evaluation_id: Schema.String,
  plan_digest: Schema.String,
  dispatched_at: instant
})
export type RouteDispatch = typeof RouteDispatch.Type
