/** Plans of routes as state, and as they are shown. */
import type { RoutePlanOut, RoutePlanStatus, routePlanFailures } from "@flyball/contract"
import { type ListEntry, ROUTE_PLANS, routePlanKeys } from "@flyball/core"
import type { Document, DocumentPut, JsonObject } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import type { RoutePlan, RoutingProblem, SolveTrace } from "@flyball/rules"
import type { CoursesDocument, Place } from "../tracking/courses.ts"

/** Why a plan failed. */
export type RoutePlanFailure = (typeof routePlanFailures)[number]

/** Where a plan goes. */
export type PlanPlaces = {
  readonly detour: number
  readonly jobs: ReadonlyArray<Place>
  readonly vehicles: ReadonlyArray<{ readonly start: Place | null; readonly end: Place | null }>
}

/** A plan of routes. Times of the plan count in seconds from `baseMs`. */
export type RoutePlanDocument = {
  readonly orgUnit: string
  readonly owner: string
  readonly writer: string
  readonly status: RoutePlanStatus
  readonly digest: string
  readonly source: RoutingProblem["distances"]["source"]
  readonly baseMs: number
  readonly vehicles: number
  readonly jobs: number
  /** Ids and places of vehicles and jobs; null once they were erased, or the plan ended without routes. */
  readonly names: {
    readonly vehicles: ReadonlyArray<string>
    readonly jobs: ReadonlyArray<string>
    /** Null where the request had a matrix: nobody knows the places then. */
    readonly places?: PlanPlaces | null
  } | null
  readonly plan: RoutePlan | null
  readonly planDigest: string | null
  readonly trace: SolveTrace | null
  readonly failure: RoutePlanFailure | null
  readonly createdAtMs: number
  readonly completedAtMs: number | null
  /** When it is given up, while it is not over. */
  readonly dueMs: number | null
  /** How often its dispatch was refused: each try is evaluated anew. */
  readonly refused: number
  /** The review that its dispatch waits for. */
  readonly review: { readonly id: string; readonly agentId: string } | null
  readonly dispatch: { readonly agentId: string; readonly evaluationId: string; readonly atMs: number } | null
}

/** A plan with its id and version. */
export interface StoredPlan {
  readonly id: string
  readonly version: number
  readonly body: RoutePlanDocument
}

/** Reads the plan of a document. */
export const storedPlan = ({ body, id, version }: Document): StoredPlan => ({
  id,
  version,
  body: body as unknown as RoutePlanDocument
})

/** The place of a plan in lists, and its filter. */
export const listedPlan = (document: Document): ListEntry => {
  const { createdAtMs, owner, status } = storedPlan(document).body
  return { id: document.id, owner, createdAtMs, filters: { status } }
}

/** Puts a plan over the version that was read. */
export const putPlan = ({ body: plan, id, version }: StoredPlan): DocumentPut => {
  const body = plan as unknown as JsonObject
  return { collection: ROUTE_PLANS, id, expectedVersion: version, body, keys: routePlanKeys(id, body) }
}

/** True once a plan is over. */
export const isOver = ({ status }: RoutePlanDocument): boolean => status !== "queued" && status !== "processing"

/** Sentences of failures. */
export const failureText: { readonly [F in RoutePlanFailure]: string } = {
  cancelled: "The plan was cancelled before there were routes.",
  interrupted: "The process that planned ended. Send the request again.",
  not_valid: "The plan that was found breaks a rule of the request, and is not shown."
}

/** Makes one unit of the costs of a request. */
const COST_UNIT = 18_000

/** How many stops the routes of a plan have. */
export const stopsOf = ({ routes }: RoutePlan): number => routes.reduce((sum, { stops }) => sum + stops.length, 0)

/** Shows a plan, with its routes where `full`. */
export const planOut = ({ body, id }: StoredPlan, full = true): RoutePlanOut => {
  const { completedAtMs, dispatch, failure, plan } = body
  return {
    id,
    status: body.status,
    created_at: formatInstant(body.createdAtMs),
    completed_at: completedAtMs === null ? null : formatInstant(completedAtMs),
    vehicles: body.vehicles,
    jobs: body.jobs,
    distance_source: body.source,
    problem_digest: `sha256:${body.digest}`,
    plan_digest: body.planDigest === null ? null : `sha256:${body.planDigest}`,
    totals:
      plan === null
        ? null
        : {
            vehicles: plan.routes.length,
            stops: stopsOf(plan),
            unassigned: plan.unassigned.length,
            metres: plan.metres,
            driving_seconds: plan.driving,
            cost: plan.cost / COST_UNIT
          },
    dispatched_at: dispatch === null ? null : formatInstant(dispatch.atMs),
    ...(failure === null ? {} : { error: { code: failure, message: failureText[failure] } }),
    ...(full ? routesOut(body) : {})
  }
}

const routesOut = ({ baseMs, names, plan, trace }: RoutePlanDocument): Partial<RoutePlanOut> => {
  if (plan === null) return { routes: null, unassigned: null, search: null }
  const at = (seconds: number): string => formatInstant(baseMs + seconds * 1_000)
  const job = (index: number): string => names?.jobs[index] ?? String(index)
  return {
    routes: plan.routes.map((route) => ({
      vehicle: names?.vehicles[route.vehicle] ?? String(route.vehicle),
      start: at(route.start),
      end: at(route.end),
      metres: route.metres,
      driving_seconds: route.driving,
      stops: route.stops.map((stop) => ({
        job: job(stop.job),
        arrival: at(stop.arrival),
        begin: at(stop.begin),
        wait_seconds: stop.begin - stop.arrival,
        load: stop.load
      }))
    })),
    unassigned: plan.unassigned.map(({ job: index, reason }) => ({ job: job(index), reason })),
    search: trace
  }
}

/** Where the vehicles of a plan are to pass from its dispatch on; null where nobody knows the places. */
export const coursesOf = ({ baseMs, names, owner, plan }: RoutePlanDocument, atMs: number): CoursesDocument | null => {
  const { places } = names ?? {}
  if (plan === null || places == null) return null
  const courses = plan.routes.map(({ end, start, stops, vehicle }) => {
    const of = places.vehicles[vehicle]!
    const fromMs = Math.max(atMs, baseMs + start * 1_000)
    return {
      vehicleId: names!.vehicles[vehicle]!,
      places: [of.start, ...stops.map(({ job }) => places.jobs[job]!), of.end].filter((place) => place !== null),
      isOpen: of.start === null,
      fromMs,
      untilMs: fromMs + (end - start) * 1_000
    }
  })
  return { owner, dispatchedAtMs: atMs, detour: places.detour, courses }
}

/** The ids and places of a problem. */
export const namesOf = ({ distances, jobs, vehicles }: RoutingProblem): NonNullable<RoutePlanDocument["names"]> => {
  const ids = { vehicles: vehicles.map(({ id }) => id), jobs: jobs.map(({ id }) => id) }
  if (distances.source === "matrix") return { ...ids, places: null }
  const { detour, points } = distances
  const of = (place: number | null) => (place === null ? null : points[place]!)
  const ends = vehicles.map(({ end, start }) => ({ start: of(start), end: of(end) }))
  return { ...ids, places: { detour, jobs: jobs.map(({ place }) => points[place]!), vehicles: ends } }
}
