/** The checker of plans. It shares no code with the solver, so that a fault of the solver does not hide itself. */
import type { RoutingMatrix } from "./matrix.ts"
import type { Route, RoutePlan, RoutingProblem } from "./problem.ts"

type Faults = Generator<string | false, void, void>

/** Recomputes a plan from the problem. Answers its first fault as a sentence, null for a plan without one. */
export const checkPlan = (problem: RoutingProblem, matrix: RoutingMatrix, plan: RoutePlan): string | null => {
  for (const fault of faults(problem, matrix, plan)) if (fault !== false) return fault
  return null
}

function* faults(problem: RoutingProblem, matrix: RoutingMatrix, plan: RoutePlan): Faults {
  const seen = new Set<number>()
  let [vehicle, metres, driving, cost] = [-1, 0, 0, 0]
  for (const route of plan.routes) {
    const its = problem.vehicles[route.vehicle]
    if (its === undefined) return yield `No vehicle has the index ${route.vehicle}.`
    yield route.vehicle <= vehicle && `The route of vehicle ${its.id} is out of order or its second.`
    yield* faultsOfRoute(problem, matrix, route, seen)
    vehicle = route.vehicle
    metres += route.metres
    driving += route.driving
    cost += 18_000 * its.fixed_cost + 18 * route.metres * its.cost_per_km + 5 * route.driving * its.cost_per_hour
  }
  let last = -1
  for (const { job } of plan.unassigned) {
    if (problem.jobs[job] === undefined) return yield `No job has the index ${job}.`
    yield job <= last && `Unassigned job ${problem.jobs[job].id} is out of order or there twice.`
    yield seen.has(job) && `Job ${problem.jobs[job].id} is made and unassigned.`
    seen.add(job)
    last = job
  }
  const lost = problem.jobs.findIndex((_, job) => !seen.has(job))
  yield lost >= 0 && `Job ${problem.jobs[lost]!.id} is neither made nor unassigned.`
  yield plan.metres !== metres && `The plan has ${metres} metres, and states ${plan.metres}.`
  yield plan.driving !== driving && `The plan drives ${driving} seconds, and states ${plan.driving}.`
  yield plan.cost !== cost && `The plan costs ${cost}, and states ${plan.cost}.`
}

function* faultsOfRoute(problem: RoutingProblem, matrix: RoutingMatrix, route: Route, seen: Set<number>): Faults {
  const { shift, ...vehicle } = problem.vehicles[route.vehicle]!
  const of = `of vehicle ${vehicle.id}`
  yield route.stops.length === 0 && `The route ${of} has no stop.`
  yield !(route.start >= shift[0]) && `The route ${of} starts at ${route.start}, before the shift.`
  const load = vehicle.capacity.map(() => 0)
  let [place, now, metres, driving] = [vehicle.start, route.start, 0, 0]
  const drive = (to: number | null): void => {
    if (place !== null && to !== null) {
      metres += matrix.metres[place * matrix.places + to]!
      driving += matrix.seconds[place * matrix.places + to]!
      now += matrix.seconds[place * matrix.places + to]!
    }
    place = to
  }
  for (const stop of route.stops) {
    const job = problem.jobs[stop.job]
    if (job === undefined) return yield `No job has the index ${stop.job}.`
    const at = `at job ${job.id} ${of}`
    yield seen.has(stop.job) && `Job ${job.id} is made twice.`
    seen.add(stop.job)
    yield job.pinned !== null && job.pinned !== vehicle.id && `Job ${job.id} is pinned to ${job.pinned}, not ${of}.`
    const skill = job.skills.find((name) => !vehicle.skills.includes(name))
    yield skill !== undefined && `Skill ${skill} is missing ${at}.`
    drive(job.place)
    yield stop.arrival !== now && `The arrival ${at} is ${now}, not ${stop.arrival}.`
    const window = job.windows.length === 0 ? [now, now] : job.windows.find(([, to]) => now <= to)
    if (window === undefined) return yield `The arrival ${at}, ${now}, is behind the last window.`
    now = Math.max(now, window[0]!)
    yield stop.begin !== now && `The service ${at} begins at ${now}, not ${stop.begin}.`
    now += job.service
    for (const [dimension, holds] of vehicle.capacity.entries()) {
      load[dimension]! += job.demand[dimension]!
      yield (
        stop.load[dimension] !== load[dimension] && `The load ${at} is ${load.join(", ")}, not ${stop.load.join(", ")}.`
      )
      yield load[dimension]! > holds && `The load ${at} is ${load.join(", ")}, more than the vehicle holds.`
    }
    yield stop.load.length !== load.length && `The load ${at} has ${stop.load.length} dimensions, not ${load.length}.`
  }
  drive(vehicle.end)
  yield route.end !== now && `The route ${of} ends at ${now}, not ${route.end}.`
  yield now > shift[1] && `The route ${of} ends at ${now}, behind the shift.`
  yield route.metres !== metres && `The route ${of} has ${metres} metres, and states ${route.metres}.`
  yield route.driving !== driving && `The route ${of} drives ${driving} seconds, and states ${route.driving}.`
  yield metres > (vehicle.max_metres ?? metres) && `The route ${of} has ${metres} metres, more than it may have.`
  yield (
    now - route.start > (vehicle.max_seconds ?? Infinity) && `The route ${of} takes ${now - route.start} s: too long.`
  )
}
