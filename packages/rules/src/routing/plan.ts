/** Makes the plan of a search: stops with times and loads, and why jobs are left out. */
import type { RoutingMatrix } from "./matrix.ts"
import { excludes, Model } from "./model.ts"
import { type Route, type RoutePlan, type RoutingProblem, type UnassignedReason, unassignedReasons } from "./problem.ts"

/** The best that a search has met: the rings of its routes, and the iteration that found it. */
export interface Best {
  readonly next: Int32Array
  cost: number
  left: number
  at: number
}

/** The plan of rings. Vehicles of a kind get its routes by the first stop, so that the earlier ones are used. */
export const planOf = (model: Model, next: Int32Array): RoutePlan => {
  const { jobs, vehicles } = model
  const byKind = Array.from({ length: model.kinds }, (): Array<Array<number>> => [])
  const missing = new Set(model.problem.jobs.keys())
  for (let vehicle = 0; vehicle < vehicles; vehicle++) {
    const stops: Array<number> = []
    for (let node = next[jobs + vehicle]!; node < jobs; node = next[node]!) stops.push(node)
    for (const job of stops) missing.delete(job)
    if (stops.length > 0) byKind[model.kind[vehicle]!]!.push(stops)
  }
  for (const routes of byKind) routes.sort((a, b) => a[0]! - b[0]!)
  const routes = Array.from(model.kind).flatMap((kind, vehicle) => {
    const stops = byKind[kind]!.shift()
    return stops === undefined ? [] : [routeOf(model, vehicle, stops)]
  })
  const sum = (of: (route: Route) => number): number => routes.reduce((total, route) => total + of(route), 0)
  return {
    routes,
    unassigned: [...missing].map((job) => ({ job, reason: reasonOf(model, job) })),
    metres: sum(({ metres }) => metres),
    driving: sum(({ driving }) => driving),
    cost: sum(
      ({ vehicle, metres, driving }) =>
        model.fixed[vehicle]! + model.perMetre[vehicle]! * metres + model.perSecond[vehicle]! * driving
    )
  }
}

/** Why a job is in no route: the constraint that excluded the last vehicle, the job alone. */
export const unassignedReason = (
  problem: RoutingProblem,
  matrix: RoutingMatrix,
  _plan: RoutePlan,
  job: number
): UnassignedReason => reasonOf(new Model(problem, matrix), job)

const reasonOf = (model: Model, job: number): UnassignedReason => {
  let last = 0
  for (let vehicle = 0; vehicle < model.vehicles; vehicle++) {
    const reason = excludes(model, vehicle, job)
    if (reason === null) return "no_feasible_vehicle"
    last = Math.max(last, unassignedReasons.indexOf(reason))
  }
  return unassignedReasons[last]!
}

const routeOf = (model: Model, vehicle: number, jobs: ReadonlyArray<number>): Route => {
  if (!model.times(vehicle, jobs, jobs.length)) throw new Error("The search made a route that windows do not allow.")
  const { start, end } = model
  const depot = model.jobs + vehicle
  const load = model.problem.vehicles[vehicle]!.capacity.map(() => 0)
  let [from, time, metres, driving] = [depot, start, 0, 0]
  const drive = (to: number): void => {
    metres += model.distance(from, to)
    driving += model.travel(from, to)
    time += model.travel(from, to)
    from = to
  }
  const stops = jobs.map((job) => {
    drive(job)
    const [arrival, begin] = [time, model.beginAt(job, time)]
    time = begin + model.service[job]!
    model.problem.jobs[job]!.demand.forEach((demand, dimension) => (load[dimension]! += demand))
    return { job, arrival, begin, load: [...load] }
  })
  drive(depot)
  return { vehicle, start, end, metres, driving, stops }
}
